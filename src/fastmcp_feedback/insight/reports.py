"""Reports in the database, and the calls that are linked to them."""

from __future__ import annotations

from typing import Any

from ..query.filters import Filter
from ..query.moments import FilterError, parse_moment
from ..query.parts import rows_by_id
from ..query.reader import Reader

STATUSES = ("open", "in_progress", "resolved", "closed")
MAX_EVIDENCE = 50
_COLUMNS = "id, type, status, severity, tool, title, created_at, report_count"


async def list_reports(
    reader: Reader, which: Filter, status: str | None, limit: int, cursor: str | None
) -> tuple[list[dict[str, Any]], str | None]:
    """A page of reports, the newest first, each with `linked_calls`; `which` narrows by time and tool.

    Raises:
        FilterError: an unknown status, or a cursor that is none.
    """
    if status is not None and status not in STATUSES:
        raise FilterError(f"status {status!r} does not exist; write one of {', '.join(STATUSES)}")
    parts, bound = ["1 = 1"], dict[str, Any]()
    for column, operator, name, value in (
        ("created_at", ">=", "since", None if which.since is None else reader.stamp(which.since)),
        ("tool", "=", "tool", which.tool),
        ("status", "=", "status", status),
    ):
        if value is not None:
            parts.append(f"f.{column} {operator} :{name}")
            bound[name] = value
    if cursor is not None:
        at, _, report_id = cursor.partition("~")
        parts.append("(f.created_at < :at OR (f.created_at = :at AND f.id < :after))")
        bound |= {"at": reader.stamp(parse_moment(at)), "after": report_id}
    rows = await reader.rows(
        f"SELECT {', '.join('f.' + name for name in _COLUMNS.split(', '))}, "  # noqa: S608 - names of ours, values bound
        f"(SELECT COUNT(*) FROM {reader.links} l WHERE l.feedback_ref = f.id) AS linked_calls "
        f"FROM {reader.feedback} f WHERE {' AND '.join(parts)} ORDER BY f.created_at DESC, f.id DESC LIMIT :limit",
        {**bound, "limit": limit + 1},
    )
    more = len(rows) > limit
    rows = rows[:limit]
    return rows, f"{rows[-1]['created_at'].isoformat()}~{rows[-1]['id']}" if more else None


async def find_report(reader: Reader, report_id: str) -> tuple[dict[str, Any], list[dict[str, Any]]] | None:
    """One report and its calls in order; None when there is none of that id."""
    rows = await reader.rows(
        f"SELECT {_COLUMNS}, description, server_version FROM {reader.feedback} WHERE id = :id",  # noqa: S608 - names of ours, values bound
        {"id": report_id},
    )
    if not rows:
        return None
    links = await reader.rows(
        f"SELECT call_id FROM {reader.links} WHERE feedback_ref = :id ORDER BY position LIMIT {MAX_EVIDENCE}",  # noqa: S608 - see above
        {"id": report_id},
    )
    columns = "id, tool, started_at, duration_ms, outcome, fault, error_type, error_message, fingerprint"
    calls = await rows_by_id(reader, columns, (link["call_id"] for link in links))
    return {**rows[0], "linked_calls": len(links)}, [calls[link["call_id"]] for link in links if link["call_id"] in calls]


async def reports_of(reader: Reader, call_id: str) -> list[str]:
    """Ids of the reports that a call is linked to."""
    rows = await reader.rows(
        f"SELECT feedback_ref FROM {reader.links} WHERE call_id = :id ORDER BY linked_at LIMIT 20",  # noqa: S608 - names of ours, values bound
        {"id": call_id},
    )
    return [row["feedback_ref"] for row in rows]
