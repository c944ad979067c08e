"""Made-up records for the store's tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from fastmcp_feedback.records import CallLink, Derived, EventRecord, ToolCallRecord

NOON: Final = datetime(2026, 10, 2, 12, tzinfo=UTC)


def call(minute: float = 0, **fields: Any) -> ToolCallRecord:
    """A call that began so many minutes after noon."""
    given: dict[str, Any] = {
        "tool": "render",
        "started_at": NOON + timedelta(minutes=minute),
        "duration_ms": 1.5,
        "ok": True,
        "mode": "full",
    }
    return ToolCallRecord(**(given | fields))


def call_in(conversation: str | None, minute: float = 0, *, internal: bool = False, **fields: Any) -> ToolCallRecord:
    """A call of a conversation."""
    return call(minute, _derived=Derived(conversation_key=conversation, conversation_basis="session", internal=internal), **fields)


def event(minute: float = 0, **fields: Any) -> EventRecord:
    """An event so many minutes after noon."""
    given: dict[str, Any] = {"kind": "step", "occurred_at": NOON + timedelta(minutes=minute)}
    return EventRecord(**(given | fields))


def link(record: ToolCallRecord, position: int = 0, rule: str = "session") -> CallLink:
    """A link to that call."""
    return CallLink(record.id, rule, record.tool, record.started_at, ok=record.ok, position=position)
