"""What the queries give, as answers: rounded, recorded text marked, and nothing that the caller may not see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from ..query.failures import FailureGroup
from ..query.flailing import Flail
from ..query.health import ToolHealth
from ..query.moments import FilterError
from ..query.story import Entry
from ..query.versions import ToolChange
from .access import Access
from .answers import CallRow, FailureRow, FlailingRow, Step, ToolRow, VersionRow
from .recorded_text import label, label_or_none, mark, mark_or_none

T = TypeVar("T")
_SHOWN_IDS: Final = 3


def moment(at: datetime) -> str:
    """ISO 8601 in UTC, with milliseconds."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds")


def percent(share: float) -> float:
    """A share as a percentage with one digit.

    >>> percent(1 / 3)
    33.3
    """
    return round(100 * share, 1)


def offset_of(cursor: str | None) -> int:
    """Where a page of a computed list begins.

    Raises:
        FilterError: not a cursor of ours.
    """
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 7):
        raise FilterError(f"{cursor[:40]!r} is not a cursor: pass the one of the answer before, or none")
    return int(cursor)


def page(items: Sequence[T], limit: int, cursor: str | None) -> tuple[Sequence[T], str | None]:
    """The items of one page and the cursor of the next one."""
    start = offset_of(cursor)
    return items[start : start + limit], str(start + limit) if len(items) > start + limit else None


def tool_row(tool: ToolHealth) -> ToolRow:
    """Health of one tool."""
    return ToolRow(
        tool=label(tool.tool),
        calls=round(tool.calls, 1),
        failed=round(tool.soft_errors + tool.errors, 1),
        failed_percent=percent(tool.failed_share),
        soft_errors=round(tool.soft_errors, 1),
        errors=round(tool.errors, 1),
        p50_ms=round(tool.p50_ms, 2),
        p95_ms=round(tool.p95_ms, 2),
        users=tool.users,
    )


def failure_row(group: FailureGroup, access: Access) -> FailureRow:
    """One failure; its message only for those who may see recorded words."""
    return FailureRow(
        fingerprint=label_or_none(group.fingerprint),
        tool=label(group.tool),
        calls=round(group.calls, 1),
        users=group.users,
        conversations=group.conversations,
        fault=label_or_none(group.fault),
        category=label_or_none(group.category),
        error_type=label_or_none(group.error_type),
        example_message=mark_or_none(group.message) if access >= Access.TEXTS else None,
        first_seen=moment(group.first_seen),
        last_seen=moment(group.last_seen),
        example_call_id=label(group.example_id),
    )


def call_row(row: Mapping[str, Any], access: Access) -> CallRow:
    """One call, short."""
    return CallRow(
        call_id=label(row["id"]),
        tool=label(row["tool"]),
        started_at=moment(row["started_at"]),
        duration_ms=round(row["duration_ms"] or 0.0, 3),
        outcome=label(row["outcome"]),
        fault=label_or_none(row["fault"]),
        error_type=label_or_none(row["error_type"]),
        error_message=mark_or_none(row["error_message"]) if access >= Access.TEXTS else None,
        fingerprint=label_or_none(row["fingerprint"]),
    )


def step(entry: Entry, began: datetime) -> Step:
    """One step of a conversation."""
    return Step(
        seconds=round((entry.at - began).total_seconds(), 3),
        kind=entry.kind,
        what=mark(entry.title) if entry.kind == "report" else label(entry.title),
        outcome=label_or_none(entry.outcome),
        duration_ms=None if entry.duration_ms is None else round(entry.duration_ms, 3),
        text=mark_or_none(entry.text),
        id=label(entry.id),
    )


def flailing_row(flail: Flail) -> FlailingRow:
    """One finding, with the ids of its first and last calls."""
    ids = [label(call.id) for call in flail.calls]
    errors = [call.error_message for call in flail.calls if call.error_message]
    return FlailingRow(
        kind=flail.kind,
        conversation=label_or_none(flail.conversation_key),
        tool=label(flail.tool),
        attempts=len(ids),
        resolved=flail.resolved,
        ended_conversation=flail.ended_conversation,
        started_at=moment(flail.started_at),
        ended_at=moment(flail.ended_at),
        wasted_ms=round(flail.wasted_ms, 1),
        last_error=mark_or_none(errors[-1] if errors else None),
        call_ids=ids if len(ids) <= 2 * _SHOWN_IDS else [*ids[:_SHOWN_IDS], *ids[-_SHOWN_IDS:]],
    )


def version_row(change: ToolChange) -> VersionRow:
    """One tool on both versions."""
    before, after = change.before, change.after
    return VersionRow(
        tool=label(change.tool),
        verdict=change.verdict,
        calls_before=round(before.calls, 1) if before else None,
        calls_after=round(after.calls, 1) if after else None,
        failed_percent_before=percent(before.failed_share) if before else None,
        failed_percent_after=percent(after.failed_share) if after else None,
        p95_ms_before=round(before.p95_ms, 2) if before else None,
        p95_ms_after=round(after.p95_ms, 2) if after else None,
    )
