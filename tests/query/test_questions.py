"""Health and lists of calls, on a real database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from fastmcp_feedback.query.calls import find_call, list_calls
from fastmcp_feedback.query.filters import Filter
from fastmcp_feedback.query.health import tool_health
from fastmcp_feedback.query.moments import FilterError
from fastmcp_feedback.query.reader import NotReadable, Reader, open_reader
from support.recorded import a_call, database

T = TypeVar("T")


def ask(url: str, question: Callable[[Reader], Awaitable[T]]) -> T:
    """The answer to one question."""

    async def work() -> T:
        async with open_reader(url) as reader:
            return await question(reader)

    return asyncio.run(work())


def test_health_counts_outcomes_and_weighs_sampled_calls(tmp_path: Path) -> None:
    """A call kept at rate 0.1 stands for ten; internal calls are left out; percentiles are nearest ranks."""
    records = [
        *(a_call(n, user_sub=f"u{n % 2}", conversation="c") for n in range(20)),
        a_call(20, outcome="soft_error"),
        a_call(21, outcome="error"),
        a_call(22, tool="ping", sample_rate=0.1),
        a_call(23, tool="submit_feedback", internal=True),
    ]
    health = {tool.tool: tool for tool in ask(database(tmp_path, records), tool_health)}
    assert set(health) == {"render", "ping"}
    render = health["render"]
    assert (render.calls, render.ok, render.soft_errors, render.errors) == (22, 20, 1, 1)
    assert (render.p50_ms, render.p95_ms, render.max_ms) == (11.0, 21.0, 22.0)
    assert (render.users, render.conversations) == (2, 1)
    assert render.failed_share == pytest.approx(2 / 22)
    assert health["ping"].calls == pytest.approx(10)


def test_pages_cover_every_call_once_whatever_is_recorded_meanwhile(tmp_path: Path) -> None:
    """Keyset pages: no call twice, none left out, also when calls share a time."""
    records = [a_call(n, started_at=a_call(n // 3).started_at) for n in range(25)]
    url = database(tmp_path, records)

    async def all_pages(reader: Reader) -> list[str]:
        seen: list[str] = []
        cursor = None
        while True:
            page = await list_calls(reader, limit=4, cursor=cursor)
            seen += [call["id"] for call in page.calls]
            cursor = page.cursor
            if cursor is None:
                return seen

    seen = ask(url, all_pages)
    assert sorted(seen) == sorted(record.id for record in records)
    assert len(seen) == 25


def test_a_call_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    """Whole with its payloads; an ambiguous or unknown beginning finds nothing."""
    url = database(tmp_path, [a_call(1, args={"scene": "big"}, mode="full"), a_call(2)])
    found = ask(url, lambda reader: find_call(reader, "00000001"))
    assert found is not None
    assert found["args"] == {"scene": "big"}
    assert ask(url, lambda reader: find_call(reader, "0000")) is None
    assert ask(url, lambda reader: find_call(reader, "ffff")) is None


@pytest.mark.parametrize(("limit", "cursor"), [(0, None), (1001, None), (5, "no cursor")])
def test_a_page_that_cannot_be_is_refused(tmp_path: Path, limit: int, cursor: str | None) -> None:
    """A limit out of range or a made-up cursor is an error with words."""
    url = database(tmp_path, [a_call(1)])
    with pytest.raises(FilterError):
        ask(url, lambda reader: list_calls(reader, Filter(), limit=limit, cursor=cursor))


def test_what_is_no_recorded_database_is_said_so(tmp_path: Path) -> None:
    """A missing file is not created; an empty or foreign file is named."""
    missing = tmp_path / "missing.db"
    with pytest.raises(NotReadable, match="there is no database at"):
        ask(f"sqlite:///{missing}", tool_health)
    assert not missing.exists()
    empty = tmp_path / "empty.db"
    empty.touch()
    with pytest.raises(NotReadable, match="holds no recorded calls"):
        ask(f"sqlite:///{empty}", tool_health)
