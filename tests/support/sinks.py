"""Sinks that behave badly on purpose, and a recorder around them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from fastmcp_feedback.delivery.options import DeliveryOptions
from fastmcp_feedback.delivery.recorder import Recorder
from fastmcp_feedback.records import ToolCallRecord
from fastmcp_feedback.sink import Record
from fastmcp_feedback.sinks.memory import MemorySink


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


def memory_holds(sink: MemorySink, count: int) -> bool:
    """Has the sink got so many records?"""
    return len(sink.records) == count


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
