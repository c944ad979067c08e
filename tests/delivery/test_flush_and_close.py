"""Flush, close, and the loops that sinks run on."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

from fastmcp_feedback.delivery.options import DeliveryOptions
from fastmcp_feedback.delivery.recorder import Recorder
from fastmcp_feedback.sink import Record
from fastmcp_feedback.sinks.memory import MemorySink
from support.sinks import Gate, as_is, books, call, recorder
from support.waiting import wait_until

Contained = list[tuple[str, BaseException]]


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
def test_a_setting_out_of_range_is_an_error_that_names_it(option: str, value: Any) -> None:
    """The message says which option, its value, and what is allowed."""
    with pytest.raises(ValueError, match=rf"{option}={value!r}: must be"):
        DeliveryOptions(**{option: value})
