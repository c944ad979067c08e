"""Databases with recorded calls in them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fastmcp_feedback.records import Derived, Failure, ToolCallRecord
from fastmcp_feedback.sink import Record
from fastmcp_feedback.store import DatabaseSink

NOON = datetime(2026, 10, 2, 12, 0, tzinfo=UTC)


def a_call(number: int, **changes: Any) -> ToolCallRecord:
    """A call, `number` seconds after noon; `fault`, `fingerprint`, `conversation` and `internal` are derived facts."""
    outcome = changes.get("outcome", "ok")
    fault, fingerprint = changes.pop("fault", None), changes.pop("fingerprint", None)
    failure = Failure(fault or "server", "other", fingerprint or "f1-0") if outcome != "ok" else None
    derived = Derived(failure=failure, conversation_key=changes.pop("conversation", None), internal=changes.pop("internal", False))
    values: dict[str, Any] = {
        "tool": "render", "started_at": NOON + timedelta(seconds=number), "duration_ms": float(number + 1), "ok": outcome == "ok",
        "mode": "meta", "id": f"{number:08d}-0000-4000-8000-000000000000",
    }  # fmt: skip
    return ToolCallRecord(**{**values, **changes}, _derived=derived)


def database(folder: Path, records: Sequence[Record], name: str = "calls.db") -> str:
    """The URL of a new SQLite database with these records."""
    url = f"sqlite:///{folder / name}"

    async def fill() -> None:
        sink = DatabaseSink(url)
        await sink.write(records)
        await sink.aclose()

    asyncio.run(fill())
    return url
