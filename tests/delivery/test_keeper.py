"""Delivery with a spool: what sinks cannot take is on disk, comes back in order, and the books always add up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from fastmcp_feedback.delivery.options import DeliveryOptions
from fastmcp_feedback.delivery.recorder import Recorder
from fastmcp_feedback.sink import Record, RecordsRejected, SinkUnavailable
from support.spooling import call_ids, made_call
from support.waiting import until

Contained = list[tuple[str, BaseException]]


class Door:
    """A sink that refuses everything while it is shut; it keeps each record once, like a database."""

    owns_resource = True

    def __init__(self, *, shut: bool = False) -> None:
        self.shut = shut
        self.records: list[Record] = []
        self.attempts = 0
        self.seen: set[str] = set()

    async def write(self, records: Sequence[Record]) -> None:
        self.attempts += 1
        if self.shut:
            raise SinkUnavailable("shut")
        self.records += [record for record in records if record.id not in self.seen]
        self.seen.update(record.id for record in records)

    @property
    def ids(self) -> list[str]:
        return [record.id for record in self.records]


class Hanging(Door):
    """A sink whose write returns only when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    async def write(self, records: Sequence[Record]) -> None:
        while not self.go.is_set():  # noqa: ASYNC110 - set from another thread
            await asyncio.sleep(0.005)
        await super().write(records)


def as_is(item: Any) -> tuple[Record, bool]:
    """No shaping."""
    return item, True


@asynccontextmanager
async def recorder(directory: Path, *sinks: Any, **options: Any) -> AsyncIterator[Recorder]:
    """A recorder with a spool, closed afterwards."""
    made = Recorder(as_is, sinks, DeliveryOptions(spool=str(directory), **options))
    try:
        yield made
    finally:
        await made.aclose()


def books(made: Recorder, position: int = 0) -> dict[str, Any]:
    """One sink's books; they have to add up at any time."""
    report: dict[str, Any] = list(made.stats()["sinks"].values())[position]
    ends = report["written"] + report["waiting"] + report["spooled"] + report["quarantined"] + report["lost"]
    assert report["accepted"] == ends
    assert min(report[name] for name in ("accepted", "written", "waiting", "spooled", "quarantined", "lost")) >= 0
    return report


def files(directory: Path) -> list[Path]:
    """The segment files."""
    return sorted(directory.glob("*.spool"))


def submit(made: Recorder, numbers: range) -> None:
    """Records with these numbers."""
    assert all(made.submit(made_call(n)) for n in numbers)


async def test_what_a_sink_takes_at_once_never_touches_the_disk(tmp_path: Path) -> None:
    """A spool costs nothing while the sinks keep up."""
    sink = Door()
    async with recorder(tmp_path / "s", sink) as made:
        submit(made, range(50))
        assert await made.flush()
        assert books(made)["written"] == 50
        assert files(tmp_path / "s") == []


async def test_what_a_sink_refuses_is_safe_soon_and_stored_later(tmp_path: Path, contained: Contained) -> None:
    """While the sink is away its records count as spooled; then all are written in order and the files go."""
    sink = Door(shut=True)
    async with recorder(tmp_path, sink) as made:
        submit(made, range(50))
        await until(lambda: books(made)["spooled"] == 50)
        assert books(made)["waiting"] == 0
        assert len(files(tmp_path)) == 1
        assert made.stats()["spool"]["oldest_unsafe_s"] is None
        sink.shut = False
        assert await made.flush()
        assert sink.ids == call_ids(range(50))
        assert books(made) | {"last_error": None, "oldest_waiting_s": None} == {
            "accepted": 50, "written": 50, "waiting": 0, "spooled": 0, "quarantined": 0, "lost": 0,
            "lost_by_reason": {}, "quarantine_reasons": {}, "last_error": None, "oldest_waiting_s": None,
        }  # fmt: skip
        await until(lambda: not files(tmp_path))
    assert contained


async def test_a_flush_is_content_with_the_disk_once_the_sink_has_failed_again(tmp_path: Path, contained: Contained) -> None:
    """Spooled is an end state, though never without another try."""
    sink = Door(shut=True)
    async with recorder(tmp_path, sink) as made:
        submit(made, range(5))
        attempts = sink.attempts
        assert await made.flush(20)
        assert sink.attempts > attempts
        assert books(made)["spooled"] == 5
    assert contained


async def test_a_flush_that_runs_out_of_time_is_true_when_all_is_safe(tmp_path: Path) -> None:
    """A sink that hangs has not failed, but its records are on disk."""
    sink = Hanging()
    async with recorder(tmp_path, sink) as made:
        submit(made, range(5))
        await until(lambda: books(made)["spooled"] == 5)
        assert await made.flush(0.01)
        sink.go.set()
        assert await made.flush()
        assert books(made)["written"] == 5


async def test_beyond_memory_records_go_to_disk_and_come_back_in_order(tmp_path: Path) -> None:
    """With room for ten in memory a burst of 3,000 is stored completely, each record once, in order."""
    sink = Hanging()
    async with recorder(tmp_path, sink, max_queue=1000, batch_size=10) as made:
        submit(made, range(3000))
        await until(lambda: books(made)["spooled"] + books(made)["waiting"] == 3000)
        await until(lambda: books(made)["spooled"] == 3000)
        sink.go.set()
        assert await made.flush()
        assert sink.ids == call_ids(range(3000))
        assert books(made)["written"] == 3000
        assert books(made)["lost"] == 0


async def test_what_a_closed_recorder_could_not_deliver_is_delivered_by_the_next(tmp_path: Path, contained: Contained) -> None:
    """The records are not lost but spooled, and the next recorder counts them as its own task."""
    sink = Door(shut=True)
    async with recorder(tmp_path, sink, max_queue=20, shutdown_timeout=0.1) as first:
        submit(first, range(60))
    assert books(first)["spooled"] == 60
    sink.shut = False
    async with recorder(tmp_path, sink) as second:
        second.recover()
        await until(lambda: len(sink.records) == 60)
        assert sink.ids == call_ids(range(60))
        await until(lambda: books(second)["written"] == 60)
        assert books(second)["accepted"] == 60
        await until(lambda: not files(tmp_path))
    assert contained


async def test_each_sink_gets_what_it_is_owed(tmp_path: Path, contained: Contained) -> None:
    """One sink stores at once, the other after the outage; neither gets a record twice."""
    good, bad = Door(), Door(shut=True)
    async with recorder(tmp_path, good, bad) as made:
        submit(made, range(40))
        await until(lambda: books(made, 1)["spooled"] == 40)
        assert books(made, 0)["written"] == 40
        assert books(made, 0)["spooled"] == 0
        bad.shut = False
        assert await made.flush()
    assert good.ids == bad.ids == call_ids(range(40))
    assert len(good.records) == len(bad.records) == 40
    assert contained


async def test_given_up_batches_stay_on_disk_and_are_tried_again(tmp_path: Path, contained: Contained) -> None:
    """Retries that are exhausted cost nothing with a spool."""
    sink = Door(shut=True)
    async with recorder(tmp_path, sink, retry_for=0) as made:
        submit(made, range(30))
        await until(lambda: books(made)["spooled"] == 30 and sink.attempts > 5)
        assert books(made)["lost"] == 0
        sink.shut = False
        await until(lambda: len(sink.records) == 30)
        await until(lambda: books(made)["written"] == 30)
        assert books(made)["accepted"] == 30
    assert contained


async def test_a_poisonous_record_is_done_with_though_it_was_spooled(tmp_path: Path) -> None:
    """Quarantine is an end: the file goes, and the next process does not meet the record again."""

    class Picky(Hanging):
        async def write(self, records: Sequence[Record]) -> None:
            await super().write([record for record in records if record.id != "call-3"])
            raise RecordsRejected([(record, "poison") for record in records if record.id == "call-3"])

    sink = Picky()
    async with recorder(tmp_path, sink) as made:
        submit(made, range(5))
        await until(lambda: books(made)["spooled"] == 5)
        sink.go.set()
        assert await made.flush()
        assert books(made)["quarantined"] == 1
        await until(lambda: not files(tmp_path))


async def test_without_a_usable_directory_recording_goes_on(tmp_path: Path) -> None:
    """What fits into memory is delivered, what does not is counted as without a spool."""
    (tmp_path / "s").write_text("in the way")
    sink = Hanging()
    async with recorder(tmp_path / "s", sink, max_queue=10) as made:
        assert made.submit(made_call(0))
        await until(lambda: made.stats()["spool"]["problem"])
        for n in range(1, 30):
            made.submit(made_call(n))
        await until(lambda: books(made)["lost"] == 20 and made.stats()["spool"]["oldest_unsafe_s"] is not None)
        assert set(books(made)["lost_by_reason"]) == {"queue_full"}
        sink.go.set()
        assert await made.flush()
        assert sink.ids == call_ids(range(10))


async def test_beyond_the_bytes_of_the_spool_the_oldest_are_lost_and_counted(tmp_path: Path) -> None:
    """The directory stays within its bound, and stored + counted = accepted."""
    sink = Hanging()
    async with recorder(tmp_path, sink, max_queue=10, spool_max_bytes=20_000) as made:
        for start in range(0, 1000, 10):
            submit(made, range(start, start + 10))
            assert sum(path.stat().st_size for path in files(tmp_path)) <= 20_000
        await until(lambda: "spool_full" in books(made)["lost_by_reason"])
        await until(lambda: not made.inbox.waiting)
        sink.go.set()
        assert await made.flush()
        assert books(made)["accepted"] == 1000
        assert books(made)["written"] == len(sink.records) == 1000 - books(made)["lost"]
        assert sink.ids[-1] == "call-999"


@pytest.mark.parametrize("final", [False, True])
def test_the_sinks_of_a_dead_loop_lose_nothing(tmp_path: Path, contained: Contained, *, final: bool) -> None:
    """What cannot be written because the server's loop is gone is on disk for the next process."""

    class Bound:
        async def write(self, _records: Sequence[Record]) -> None:
            raise RuntimeError("attached to a different loop")

    made = Recorder(as_is, [Bound()], DeliveryOptions(spool=str(tmp_path), shutdown_timeout=0.1))
    made.submit(made_call(1))
    assert made.flush_sync(10, final=final)
    asyncio.run(made.aclose())
    report = books(made)
    assert report["spooled"] == 1
    assert report["lost"] == 0
    assert contained
