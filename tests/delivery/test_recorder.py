"""The recorder: books that add up, retries, quarantine, whatever a sink does."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

import pytest

from fastmcp_feedback.records import ToolCallRecord
from fastmcp_feedback.sink import Record, RecordsRejected, SinkUnavailable
from fastmcp_feedback.sinks.memory import MemorySink
from support.sinks import Failing, Gate, books, call, memory_holds, recorder
from support.waiting import until

Contained = list[tuple[str, BaseException]]


async def test_records_reach_every_sink_in_order() -> None:
    """Each sink gets each record once, in the order of submission."""
    first, second = MemorySink(), MemorySink()
    async with recorder([first, second]) as made:
        records = [call(n) for n in range(500)]
        assert all(made.submit(record) for record in records)
        assert await made.flush()
        assert first.records == records
        assert second.records == records
        assert books(made)["written"] == 500


async def test_a_full_queue_drops_the_newest_and_counts_it() -> None:
    """With room for ten records, the first ten stay and the rest is counted as `queue_full`."""
    gate = Gate()
    async with recorder([gate], max_queue=10) as made:
        accepted = [made.submit(call(n)) for n in range(30)]
        assert accepted == [True] * 10 + [False] * 20
        assert books(made) | {"last_error": None, "oldest_waiting_s": None} == {
            "accepted": 30, "written": 0, "waiting": 10, "spooled": 0, "quarantined": 0, "lost": 20,
            "lost_by_reason": {"queue_full": 20}, "quarantine_reasons": {}, "last_error": None, "oldest_waiting_s": None,
        }  # fmt: skip
        gate.open.set()
        assert await made.flush()
        assert [record.request_id for record in gate.records if isinstance(record, ToolCallRecord)] == [str(n) for n in range(10)]


async def test_the_queue_is_bounded_by_bytes_too() -> None:
    """A record that would exceed `max_queue_bytes` is dropped and counted as `queue_bytes`."""
    gate = Gate()
    async with recorder([gate], max_queue_bytes=10_000) as made:
        assert made.submit(call(), 5_000)
        assert not made.submit(call(), 5_000)
        assert books(made)["lost_by_reason"] == {"queue_bytes": 1}
        gate.open.set()


async def test_a_stuck_sink_does_not_hold_up_another() -> None:
    """While one sink's queue is full the other one goes on taking records."""
    gate, memory = Gate(), MemorySink()
    async with recorder([gate, memory], max_queue=5) as made:
        for n in range(20):
            assert made.submit(call(n))
            await until(partial(memory_holds, memory, n + 1))
        assert books(made, 0)["lost_by_reason"] == {"queue_full": 15}
        assert books(made, 1)["written"] == 20
        gate.open.set()


@pytest.mark.parametrize("owns", [True, False])
async def test_a_failing_sink_is_tried_again(contained: Contained, *, owns: bool) -> None:
    """A batch that fails three times is stored by the fourth attempt, once."""
    sink = Failing(3, SinkUnavailable("away"), owns=owns)
    async with recorder([sink]) as made:
        records = [call(n) for n in range(5)]
        for record in records:
            made.submit(record)
        assert await made.flush()
        assert sink.records == records
        assert books(made)["written"] == 5
        assert {where for where, _ in contained} == {"sink Failing-0"}


async def test_after_retry_for_a_batch_is_lost_and_counted(contained: Contained) -> None:
    """A sink that never recovers costs its records, with a reason; others are unharmed."""
    sink, memory = Failing(10**9, SinkUnavailable("away")), MemorySink()
    async with recorder([sink, memory], retry_for=0.0) as made:
        made.submit(call())
        assert await made.flush()
        assert books(made)["lost_by_reason"] == {"retries_exhausted": 1}
        assert books(made, 1)["written"] == 1
        assert contained


class Picky:
    """Refuses batches that hold a poisonous record, without saying which."""

    owns_resource = True

    def __init__(self) -> None:
        self.records: list[Record] = []

    async def write(self, records: Sequence[Record]) -> None:
        if any(isinstance(record, ToolCallRecord) and record.tool == "poison" for record in records):
            message = "cannot digest"
            raise ValueError(message)
        self.records.extend(records)


async def test_one_poisonous_record_is_set_aside_and_its_batch_is_stored(contained: Contained) -> None:
    """Of fifty records one is quarantined with the reason; the other forty-nine are written."""
    sink = Picky()
    async with recorder([sink]) as made:
        for n in range(50):
            made.submit(call(n, "poison" if n == 17 else "t"))
        assert await made.flush()
        assert len(sink.records) == 49
        report = books(made)
        assert (report["written"], report["quarantined"]) == (49, 1)
        assert report["quarantine_reasons"] == {"ValueError": 1}  # no scrubber installed: the type alone
        assert contained


async def test_a_sink_may_name_the_records_that_it_rejects() -> None:
    """`RecordsRejected` quarantines those and counts the rest as written, without another attempt."""

    class Naming:
        owns_resource = True
        writes = 0

        async def write(self, records: Sequence[Record]) -> None:
            self.writes += 1
            raise RecordsRejected([(records[0], "too odd")])

    sink = Naming()
    async with recorder([sink], flush_interval=0.0) as made:
        for n in range(3):
            made.submit(call(n))
        assert await made.flush()
        report = books(made)
        assert report["quarantined"] == sink.writes
        assert report["written"] == 3 - sink.writes


async def test_an_outage_is_not_mistaken_for_poison(contained: Contained) -> None:
    """When nothing goes through at all, nothing is quarantined and everything is stored later."""
    sink = Failing(20, ValueError("down"))
    async with recorder([sink]) as made:
        records = [call(n) for n in range(8)]
        for record in records:
            made.submit(record)
        assert await made.flush()
        assert sorted(record.id for record in sink.records) == sorted(record.id for record in records)
        assert books(made)["quarantined"] == 0
        assert contained


async def test_a_write_that_hangs_is_abandoned_after_the_timeout(contained: Contained) -> None:
    """`sink_timeout` bounds one attempt; the next one succeeds."""

    class HangsOnce:
        owns_resource = True
        hung = False
        got = 0

        async def write(self, records: Sequence[Record]) -> None:
            if not self.hung:
                self.hung = True
                await asyncio.Event().wait()
            self.got += len(records)

    sink = HangsOnce()
    async with recorder([sink], sink_timeout=0.05) as made:
        made.submit(call())
        assert await made.flush()
        assert sink.got == 1
        assert [type(error) for _, error in contained] == [TimeoutError]
