"""Reports beside the calls that they are about."""

from __future__ import annotations

from dataclasses import dataclass

from .reader import Reader


@dataclass(frozen=True, slots=True)
class LinkedReport:
    """A report that a call is linked to, and the rule by which it was."""

    id: str
    title: str | None
    status: str | None
    rule: str


async def reports_of_call(reader: Reader, call_id: str, *, limit: int = 20) -> list[LinkedReport]:
    """Reports that name this call as evidence, the oldest first. Title and status are None for one that is kept elsewhere."""
    rows = await reader.rows(
        f"SELECT l.feedback_ref AS id, f.title, f.status, l.rule FROM {reader.links} l "  # noqa: S608 - names of ours, values bound
        f"LEFT JOIN {reader.feedback} f ON f.id = l.feedback_ref "
        "WHERE l.call_id = :call_id ORDER BY l.linked_at, l.feedback_ref LIMIT :limit",
        {"call_id": call_id, "limit": limit},
    )
    return [LinkedReport(row["id"], row["title"], row["status"], row["rule"]) for row in rows]
