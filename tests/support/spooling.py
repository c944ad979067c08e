"""Made-up records and short ways to fill and empty a spool."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fastmcp_feedback.codec import encode_record
from fastmcp_feedback.delivery.spool.holdings import Ticket
from fastmcp_feedback.delivery.spool.segment import Entry
from fastmcp_feedback.delivery.spool.spool import Spool
from fastmcp_feedback.records import ToolCallRecord

SINK = "Sink-0"
BEGAN = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def made_call(number: int, **fields: Any) -> ToolCallRecord:
    """A finished record that says its number in `id`."""
    given: dict[str, Any] = {
        "tool": "paint",
        "started_at": BEGAN + timedelta(seconds=number),
        "duration_ms": 1.5,
        "ok": True,
        "mode": "full",
    }
    return ToolCallRecord(**{**given, "id": f"call-{number}", "args": {"n": number}, **fields})


def entries(numbers: Iterable[int], *, held: tuple[str, ...] = (), on_disk: tuple[str, ...] = (SINK,), **fields: Any) -> list[Entry]:
    """Records with these numbers, ready to append; by default owed from the disk alone."""
    return [Entry(encode_record(made_call(n, **fields)), held, on_disk) for n in numbers]


def opened(directory: Path, *names: str, **options: Any) -> Spool:
    """A spool that serves `Sink-0`, or the sinks named."""
    return Spool(directory, names or (SINK,), **options)


def ids(taken: list[tuple[Any, Ticket]]) -> list[str]:
    """The ids of taken records, in order."""
    return [record.id for record, _ in taken]


def call_ids(numbers: Iterable[int]) -> list[str]:
    """What `ids` gives for records with these numbers."""
    return [f"call-{n}" for n in numbers]
