"""`tail -f`: every call once, in the order of its recording."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from fastmcp_feedback.cli.stories import follow_calls
from fastmcp_feedback.query.filters import Filter
from fastmcp_feedback.query.reader import open_reader
from fastmcp_feedback.store import DatabaseSink
from support.recorded import a_call, database


def followed(folder: Path, first: list[Any], later: list[list[Any]], which: Filter, number: int = 2) -> list[str]:
    """The ids that are shown while these batches are recorded, one between two looks."""
    url = database(folder, first)
    shown: list[str] = []
    batches = iter(later)

    async def work() -> None:
        sink = DatabaseSink(url)

        async def pause() -> bool:
            batch = next(batches, None)
            if batch is None:
                return False
            await sink.write(batch)
            return True

        async with open_reader(url) as reader:
            await follow_calls(reader, which, lambda row: shown.append(row["id"][:8]), number=number, pause=pause)
        await sink.aclose()

    asyncio.run(work())
    return [call_id.lstrip("0") for call_id in shown]


def test_calls_are_shown_as_they_are_recorded(tmp_path: Path) -> None:
    """The last ones first, then each new one once; a long call that ends late is not missed."""
    first = [a_call(n) for n in (1, 2, 3)]
    later = [[a_call(10), a_call(12)], [], [a_call(5)], [a_call(2000)], [a_call(2001), a_call(1900)]]

    assert followed(tmp_path, first, later, Filter()) == ["2", "3", "10", "12", "5", "2000", "1900", "2001"]


def test_only_calls_that_the_filter_leaves_are_shown(tmp_path: Path) -> None:
    """Also among those to come."""
    assert followed(tmp_path, [a_call(1), a_call(2, tool="ping")], [[a_call(3), a_call(4, tool="ping")]], Filter(tool="ping")) == ["2", "4"]
