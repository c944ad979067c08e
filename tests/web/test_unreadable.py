"""Databases that cannot be read, or not yet: a page that says what to do, and all is well once it is done."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest
import pytest_asyncio

from fastmcp_feedback.store import DatabaseSink
from fastmcp_feedback.web.app import Dashboard
from fastmcp_feedback.web.gates import OpenGate
from fastmcp_feedback.web.routes import PAGES
from fastmcp_feedback.web.source import Source
from support.asgi import get, send
from support.recorded import a_call

LISTS: Final = ("/", "/calls", "/failures", "/conversations", "/feedback", "/flailing", "/privacy")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database is, or should be."""
    return tmp_path / "calls.db"


@pytest_asyncio.fixture
async def open_dashboard(path: Path) -> AsyncIterator[Dashboard]:
    """A dashboard over that place."""
    source = Source(str(path))
    yield Dashboard(source, OpenGate())
    await source.aclose()


async def record(path: Path, calls: int = 1) -> None:
    """Calls of a moment ago."""
    sink = DatabaseSink(f"sqlite:///{path}")
    began = datetime.now(UTC) - timedelta(minutes=5)
    await sink.write([a_call(n, started_at=began + timedelta(seconds=n)) for n in range(calls)])
    await sink.aclose()


async def said(dashboard: Dashboard) -> tuple[set[int], set[str]]:
    """The status and the advice of all lists, in HTML and in JSON."""
    found: tuple[set[int], set[str]] = (set(), set())
    for target in LISTS:
        page, twin = await get(dashboard, target), await get(dashboard, target, accept="application/json")
        found[0].update((page.status, twin.status))
        found[1].add(f"{twin.json()['error']}; {twin.json()['hint']}")
        assert re.search(r'class="empty-title">[^<]+', page.text), target
    return found


async def test_a_database_that_is_not_there_yet(open_dashboard: Dashboard, path: Path) -> None:
    """The pages say what makes it, and show it as soon as it is there; the same when it goes and comes again."""
    for calls in (3, 5):
        statuses, advice = await said(open_dashboard)
        assert (statuses, len(advice)) == ({503}, 1)
        assert re.search(r"no database at .*calls\.db; .*first call", advice.pop())
        await record(path, calls)
        assert (await get(open_dashboard, "/index.json")).json()["calls"] == calls
        for file in path.parent.glob("calls.db*"):
            file.unlink()


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        (None, r"holds no recorded calls; .*right database"),
        ("CREATE TABLE ffb_tool_calls (a)", r"not of this package.*; .*another database"),
        ("CREATE TABLE ffb_schema (version INTEGER); INSERT INTO ffb_schema VALUES (1)", r"older version; .*db upgrade"),
    ],
)
async def test_a_database_of_somebody_else(open_dashboard: Dashboard, path: Path, statement: str | None, wanted: str) -> None:
    """Empty, foreign, old: each page says which, and what to do."""
    con = sqlite3.connect(path)
    con.executescript(statement or "CREATE TABLE other (a)")
    con.close()

    statuses, advice = await said(open_dashboard)

    assert (statuses, len(advice)) == ({503}, 1)
    assert re.search(wanted, advice.pop())


@pytest.fixture
def garbage(path: Path) -> bytes:
    """What stands in the file instead."""
    path.write_bytes(b"not a database at all" * 100)
    return b"not a database at all" * 100


async def test_a_file_that_is_no_database(open_dashboard: Dashboard, path: Path, garbage: bytes) -> None:
    """Nothing is thrown, nothing is changed."""
    statuses, advice = await said(open_dashboard)

    assert (statuses, len(advice)) == ({503}, 1)
    assert await asyncio.to_thread(path.read_bytes) == garbage


async def test_a_locked_database(open_dashboard: Dashboard, path: Path) -> None:
    """Somebody holds it for himself alone: said so, and all is well when he lets go."""
    await record(path)
    con = sqlite3.connect(path, isolation_level=None)
    con.execute("PRAGMA journal_mode = DELETE")
    con.execute("BEGIN EXCLUSIVE")

    answer = await get(open_dashboard, "/")
    con.execute("COMMIT")
    con.close()

    assert answer.status == 503
    assert "locked by another process" in answer.text
    assert (await get(open_dashboard, "/")).status == 200


async def test_a_change_while_somebody_writes(own_dashboard: Dashboard) -> None:
    """Pages can be read; the change is refused with the reason, and works afterwards."""
    report = "/feedback/fb-7k3m9qx2rt50"
    url = (await own_dashboard.source.reader()).url
    found = re.search(r'name="csrf" value="(\w+)"', (await get(own_dashboard, report)).text)
    assert found is not None
    form = {"csrf": found[1], "status": "closed"}
    con = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    con.execute("BEGIN IMMEDIATE")

    meanwhile, refused = await get(own_dashboard, report), await send(own_dashboard, "POST", report, form=form)
    con.execute("COMMIT")
    con.close()

    assert (meanwhile.status, refused.status) == (200, 503)
    assert "locked by another process" in refused.text
    assert (await send(own_dashboard, "POST", report, form=form)).status == 303


async def test_empty_pages_say_what_to_do_next(open_dashboard: Dashboard, path: Path) -> None:
    """A new database without a single call: every list has a hint; with one call the filter that hides it has a way out."""
    await record(path, 0)
    sink = DatabaseSink(f"sqlite:///{path}")
    await sink.backend.prepare()
    await sink.aclose()
    for target in LISTS:
        answer = await get(open_dashboard, target)
        assert answer.status == 200, target
        assert target == "/privacy" or re.search(r'class="empty-title">[^<]+</p><p>[^<]{20,}', answer.text), target

    await record(path)
    hidden = await get(open_dashboard, "/calls?tool=other")

    assert "No call matches" in hidden.text
    assert re.search(r'<a class="button" href="/calls\?since=">Show all time', hidden.text)


async def test_our_own_mistake_is_kept_from_the_server(
    own_dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch, contained: list[tuple[str, BaseException]]
) -> None:
    """A page that fails answers 500 without a traceback; the other pages go on."""

    def broken() -> None:
        raise KeyError("no such")

    monkeypatch.setattr("fastmcp_feedback.web.rendering.templates", broken)

    answer = await get(own_dashboard, "/calls")

    assert (answer.status, "Traceback" in answer.text) == (500, False)
    assert [where for where, _ in contained] == ["a page of the dashboard"]
    assert (await get(own_dashboard, "/calls.json")).status == 200


def test_no_two_pages_share_an_address() -> None:
    """The first one would hide the other."""
    assert len({page.path for page in PAGES}) == len(PAGES)
