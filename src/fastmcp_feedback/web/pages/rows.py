"""Rows of calls as several pages show them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class CallLine:
    """One call in a list."""

    id: str
    tool: str
    started_at: datetime
    duration_ms: float | None
    outcome: str
    fault: str | None
    error_type: str | None
    error_message: str | None
    user: str | None
    conversation: str | None


def call_line(row: dict[str, Any]) -> CallLine:
    """A row of the calls table, short."""
    return CallLine(
        row["id"], row["tool"], row["started_at"], row["duration_ms"], row["outcome"], row["fault"], row["error_type"],
        row["error_message"], row["user_sub"], row["conversation_key"],
    )  # fmt: skip
