"""What the command line can say and do about a spool directory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fastmcp_feedback.delivery.spool.admin import ReplayCounts, SpoolStatus, replay, status
from fastmcp_feedback.sink import Record, RecordsRejected, SinkUnavailable
from support.spooling import call_ids, entries, made_call, opened


class Shelf:
    """A sink that keeps, rejects or refuses."""

    def __init__(self, *, rejects: str = "", fails_at: int = 10**9) -> None:
        self.rejects = rejects
        self.fails_at = fails_at
        self.ids: list[str] = []

    async def write(self, records: Sequence[Record]) -> None:
        if len(self.ids) >= self.fails_at:
            raise SinkUnavailable("full")
        self.ids += [record.id for record in records if record.id != self.rejects]
        bad = [(record, "odd") for record in records if record.id == self.rejects]
        if bad:
            raise RecordsRejected(bad)


def leave(directory: Path, *names: str, count: int = 10) -> None:
    """What a process leaves that owes these sinks so many records."""
    spool = opened(directory, *names)
    for n in range(count):
        spool.append(entries([n], on_disk=names))
    spool.close()


def test_status_counts_what_is_owed_and_by_whom(tmp_path: Path) -> None:
    """Orphans and files of live processes, records for each sink, running calls, bytes and age."""
    leave(tmp_path, "Shelf-0", "Other-1")
    alive = opened(tmp_path, "Shelf-0")
    tickets = alive.append(entries(range(3), on_disk=("Shelf-0",)))
    assert tickets is not None
    alive.settle("Shelf-0", tickets[0])
    alive.maintain()
    assert alive.start_call(["Shelf-0"], made_call(9))
    found = status(tmp_path)
    assert (found.segments, found.owners_alive, found.orphans) == (2, 1, 1)
    assert found.owed == {"Shelf-0": 12, "Other-1": 10}
    assert (found.running, found.damaged) == (1, 0)
    assert found.size_bytes == sum(path.stat().st_size for path in tmp_path.glob("*.spool"))
    assert found.oldest is not None
    assert timedelta(0) <= datetime.now(UTC) - found.oldest < timedelta(hours=1)
    assert status(tmp_path) == found  # looking changes nothing
    alive.close()


def test_an_empty_directory_and_none_at_all(tmp_path: Path) -> None:
    """An empty one is an empty status; a missing one is an error that names it."""
    assert status(tmp_path) == SpoolStatus()
    with pytest.raises(FileNotFoundError, match="there is no spool directory"):
        status(tmp_path / "nowhere")


async def test_replay_brings_orphans_to_a_sink_of_their_type(tmp_path: Path) -> None:
    """Each record once, in order, whatever the sink's old position; the file goes."""
    leave(tmp_path, "Shelf-3", count=700)
    shelf, told = Shelf(), list[int]()
    assert await replay(tmp_path, shelf, progress=told.append) == ReplayCounts(stored=700)
    assert shelf.ids == call_ids(range(700))
    assert told == [500, 700]
    assert status(tmp_path) == SpoolStatus()


async def test_replay_leaves_other_sinks_and_live_processes_alone(tmp_path: Path) -> None:
    """What it may not touch is counted and stays."""
    leave(tmp_path, "Shelf-0", "Other-1")
    alive = opened(tmp_path, "Shelf-0")
    alive.append(entries([5], on_disk=("Shelf-0",)))
    assert await replay(tmp_path, Shelf()) == ReplayCounts(stored=10, busy_segments=1)
    assert status(tmp_path).owed == {"Other-1": 10, "Shelf-0": 1}
    shelf = Shelf()
    assert (await replay(tmp_path, shelf, names=["Other-1"])).stored == 10
    assert shelf.ids == call_ids(range(10))
    alive.close()


async def test_a_sink_that_fails_ends_the_replay_and_loses_nothing(tmp_path: Path) -> None:
    """What was stored stays acknowledged, the rest is there for the next try."""
    leave(tmp_path, "Shelf-0", count=1200)
    with pytest.raises(SinkUnavailable):
        await replay(tmp_path, Shelf(fails_at=1000))
    assert status(tmp_path).owed == {"Shelf-0": 200}
    shelf = Shelf()
    assert (await replay(tmp_path, shelf)).stored == 200
    assert shelf.ids == call_ids(range(1000, 1200))


async def test_rejected_records_are_counted_and_done_with(tmp_path: Path) -> None:
    """A record that the sink will never take does not stop the others."""
    leave(tmp_path, "Shelf-0")
    assert await replay(tmp_path, Shelf(rejects="call-4")) == ReplayCounts(stored=9, rejected=1)
    assert status(tmp_path) == SpoolStatus()
