"""The recorder: books that add up, retries, quarantine, flush and close, whatever a sink does."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from fastmcp_feedback.delivery.options import DeliveryOptions
from fastmcp_feedback.delivery.recorder import Recorder
from fastmcp_feedback.records import ToolCallRecord
from fastmcp_feedback.sink import Record, RecordsRejected, SinkUnavailable
from fastmcp_feedback.sinks.memory import MemorySink
from support.waiting import until, wait_until

Contained = list[tuple[str, BaseException]]


def call(number: int = 0, tool: str = "t") -> ToolCallRecord:
    """A finished record."""
    return ToolCallRecord(tool=tool, started_at=datetime.now(UTC), duration_ms=1.0, ok=True, mode="meta", request_id=str(number))


def as_is(item: Any) -> tuple[Record, bool]:
    """No shaping."""
    return item, True


@asynccontextmanager
async def recorder(
    sinks: Sequence[Any], shape: Callable[[Any], tuple[Record, bool] | None] = as_is, **options: Any
) -> AsyncIterator[Recorder]:
    """A recorder that is closed afterwards."""
    made = Recorder(shape, sinks, DeliveryOptions(**options))
    try:
        yield made
    finally:
        await made.aclose()


def books(made: Recorder, position: int = 0) -> dict[str, Any]:
    """One sink's books; they have to add up at any time."""
    report: dict[str, Any] = list(made.stats()["sinks"].values())[position]
    ends = report["written"] + report["waiting"] + report["spooled"] + report["quarantined"] + report["lost"]
    assert report["accepted"] == ends
    assert report["lost"] == sum(report["lost_by_reason"].values())
    return report


class Gate:
    """A sink of our own thread that takes nothing until it is opened."""

    owns_resource = True

    def __init__(self) -> None:
        self.open = threading.Event()
        self.records: list[Record] = []

    async def write(self, records: Sequence[Record]) -> None:
        while not self.open.is_set():  # noqa: ASYNC110 - set from another thread
            await asyncio.sleep(0.005)
        self.records.extend(records)


class Failing:
    """Fails as often as told, then keeps what it gets."""

    def __init__(self, times: int, error: Exception, *, owns: bool = True) -> None:
        self.owns_resource = owns
        self.left = times
        self.error = error
        self.records: list[Record] = []

    async def write(self, records: Sequence[Record]) -> None:
        if self.left > 0:
            self.left -= 1
            raise self.error
        self.records.extend(records)


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
            await until(lambda n=n: len(memory.records) == n + 1)
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


async def test_flush_says_false_when_time_is_over_and_true_later() -> None:
    """A flush that cannot finish says so; nothing is lost by it."""
    gate = Gate()
    async with recorder([gate]) as made:
        made.submit(call())
        assert not await made.flush(0.05)
        assert books(made)["waiting"] == 1
        gate.open.set()
        assert await made.flush()
        assert books(made)["written"] == 1


async def test_flush_counts_only_what_was_submitted_before(contained: Contained) -> None:
    """Records that arrive during a flush do not hold it up."""
    sink = MemorySink()
    async with recorder([sink]) as made:
        made.submit(call())
        stop = threading.Event()

        def keep_submitting() -> None:
            while not stop.is_set():
                made.submit(call(1))
                time.sleep(0)  # give the interpreter away

        thread = threading.Thread(target=keep_submitting)
        thread.start()
        try:
            assert await made.flush(10)
        finally:
            stop.set()
            thread.join()
        assert not contained


async def test_close_is_idempotent_and_later_records_are_refused_and_counted() -> None:
    """After `aclose` nothing is accepted any more, and that is counted."""
    sink = MemorySink()
    async with recorder([sink]) as made:
        made.submit(call())
        await made.aclose()
        await made.aclose()
        assert len(sink.records) == 1
        assert not made.submit(call())
        assert made.stats()["refused_after_close"] == 1
        assert await made.flush()


async def test_close_counts_what_could_not_be_delivered() -> None:
    """A sink that takes nothing until the end costs its records, with the reason `closed`."""
    gate = Gate()
    made = Recorder(as_is, [gate], DeliveryOptions(shutdown_timeout=0.05))
    made.submit(call())
    await made.aclose()
    assert books(made)["lost_by_reason"] == {"closed": 1}


async def test_shaping_that_fails_is_contained_and_counted(contained: Contained) -> None:
    """An item that cannot be shaped is counted as lost and the next one is delivered."""

    def shape(item: Any) -> tuple[Record, bool]:
        if item.request_id == "0":
            message = "no shape"
            raise ValueError(message)
        return item, True

    sink = MemorySink()
    async with recorder([sink], shape) as made:
        made.submit(call(0))
        made.submit(call(1))
        assert await made.flush()
        assert len(sink.records) == 1
        assert books(made)["lost_by_reason"] == {"shaping_failed": 1}
        assert [where for where, _ in contained] == ["shaping"]


async def test_sampled_out_items_leave_no_trace_in_the_books() -> None:
    """What sampling takes back was never accepted, and a flush does not wait for it."""
    sink = MemorySink()
    async with recorder([sink], lambda item: (item, item.request_id == "1")) as made:
        for n in range(3):
            made.submit(call(n))
        assert await made.flush()
        assert books(made)["accepted"] == 1
        assert len(sink.records) == 1


async def test_a_host_sink_runs_on_the_hosts_loop() -> None:
    """A sink that does not own its resource is called on the loop that flushes."""
    loops = []

    class Host:
        async def write(self, _records: Sequence[Record]) -> None:
            loops.append(asyncio.get_running_loop())

    async with recorder([Host()]) as made:
        made.submit(call())
        assert await made.flush()
        assert loops == [asyncio.get_running_loop()]


def test_a_loop_that_closed_is_noticed_and_the_next_one_is_used(contained: Contained) -> None:
    """Records for a host sink wait while its loop is closed and go out on the next loop."""
    got: list[Record] = []

    class Host:
        async def write(self, records: Sequence[Record]) -> None:
            got.extend(records)

    made = Recorder(as_is, [Host()], DeliveryOptions())

    async def first() -> None:
        made.submit(call(0))
        await made.flush()

    async def second() -> None:
        await made.flush()
        await made.aclose()

    asyncio.run(first())
    assert len(got) == 1
    made.submit(call(1))
    wait_until(lambda: contained)
    asyncio.run(second())
    assert len(got) == 2
    assert books(made)["written"] == 2


def test_at_the_end_host_sinks_are_served_by_our_own_loop(contained: Contained) -> None:
    """`final` is the last resort when the host's loop does not turn any more."""
    got: list[Record] = []

    class Host:
        async def write(self, records: Sequence[Record]) -> None:
            got.extend(records)

    made = Recorder(as_is, [Host()], DeliveryOptions())
    made.submit(call())
    assert made.flush_sync(10, final=True)
    assert len(got) == 1
    assert all(where == "sink Host-0" for where, _ in contained)


def test_a_host_sink_bound_to_a_dead_loop_is_counted_as_loop_closed(contained: Contained) -> None:
    """A sink that cannot work without its loop loses its records with that reason."""

    class Bound:
        async def write(self, _records: Sequence[Record]) -> None:
            message = "attached to a different loop"
            raise RuntimeError(message)

    made = Recorder(as_is, [Bound()], DeliveryOptions())
    made.submit(call())
    assert made.flush_sync(10, final=True)
    assert books(made)["lost_by_reason"] == {"loop_closed": 1}
    assert contained


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("batch_size", 0),
        ("max_queue", -1),
        ("max_queue_bytes", 1.5),
        ("sink_timeout", 0),
        ("retry_for", -1),
        ("flush_interval", float("nan")),
    ],
)
def test_a_setting_out_of_range_is_an_error_that_names_it(option: str, value: float) -> None:
    """The message says which option, its value, and what is allowed."""
    with pytest.raises(ValueError, match=rf"{option}={value!r}: must be"):
        DeliveryOptions(**{option: value})
