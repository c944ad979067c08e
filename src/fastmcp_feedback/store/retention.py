"""Removing what is old: never a call that a report is linked to, in small transactions, by several workers at once."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from ..ids import utc_now
from .codec import utc
from .ddl import quoted
from .durations import seconds
from .migrations import Found
from .schema import EMBEDDINGS, EVENTS, LINKS, TOOL_CALLS, Dialect
from .statements import Statement

MAX_BATCH: Final = 100_000


def cutoff_for(older_than: datetime | timedelta | str | None, retention: timedelta | None) -> datetime:
    """The moment before which rows go.

    Raises:
        ValueError: neither is given, or `older_than` is no time and no duration.
    """
    if isinstance(older_than, datetime):
        return utc(older_than)
    if older_than is None:
        if retention is None:
            raise ValueError("prune needs older_than= (a timedelta, a datetime, or text such as '30 d') when the sink has no retention")
        return utc_now() - retention
    return utc_now() - timedelta(seconds=seconds("older_than", older_than, unit_needed=True))


def batches(found: Found, prefix: str, dialect: Dialect, cutoff: Any, rows: int) -> dict[str, Statement]:
    """For each table one statement that deletes at most `rows` old rows. Run each until it deletes nothing.

    Events of a linked call stay with it. Vectors go when what they were made of has gone.
    """
    calls, events, links = (quoted(prefix + table.name) for table in (TOOL_CALLS, EVENTS, LINKS))
    values = {"cutoff": cutoff, "rows": max(1, min(rows, MAX_BATCH))}
    skip = " FOR UPDATE SKIP LOCKED" if dialect == "postgresql" else ""
    linked = f"SELECT 1 FROM {links} l WHERE l.call_id ="  # noqa: S608 - a name of ours
    kept = f"EXISTS (SELECT 1 FROM {calls} c WHERE c.id = t.source_id) OR EXISTS (SELECT 1 FROM {events} e WHERE e.id = t.source_id)"  # noqa: S608
    picks = (
        (TOOL_CALLS.name, "id", f"t.started_at < :cutoff AND NOT EXISTS ({linked} t.id)"),
        (EVENTS.name, "id", f"t.occurred_at < :cutoff AND (t.call_id IS NULL OR NOT EXISTS ({linked} t.call_id))"),
        (EMBEDDINGS.name, "source_id", f"t.created_at < :cutoff AND t.source_type <> 'feedback' AND NOT ({kept})"),
    )
    return {
        name: (_delete(quoted(prefix + name), key, f"{old} LIMIT :rows{skip}"), values) for name, key, old in picks if name in found.tables
    }


def _delete(table: str, key: str, which: str) -> str:
    return f"DELETE FROM {table} WHERE {key} IN (SELECT t.{key} FROM {table} t WHERE {which})"  # noqa: S608 - names of ours, values bound
