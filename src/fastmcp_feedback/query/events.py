"""Events: lists with keyset pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

from ..store.ddl import quoted
from ..store.schema import EVENTS
from .calls import MAX_PAGE
from .filters import Filter
from .llm import events_where
from .moments import FilterError, parse_moment
from .reader import Reader

_ALL: Final = ", ".join(quoted(name) for name in EVENTS.column_names)


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events, the newest first, and the cursor of the next page (None: this was the last)."""

    events: list[dict[str, Any]]
    cursor: str | None


async def list_events(
    reader: Reader,
    which: Filter | None = None,
    *,
    kind: str | None = None,
    key: str | None = None,
    call_id: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
) -> EventPage:
    """A page of events, newest first. What the filter says of calls chooses the events of those calls.

    Raises:
        FilterError: a cursor that is none, or a limit out of range.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise FilterError(f"a page has 1 to {MAX_PAGE} events, not {limit}")
    where, bound = events_where(reader, which or Filter())
    for name, value in (("kind", kind), ("key", key), ("call_id", call_id)):
        if value is not None:
            where += f" AND {quoted(name)} = :event_{name}"
            bound[f"event_{name}"] = value
    if cursor is not None:
        moment, _, event_id = cursor.partition("~")
        where += " AND (occurred_at < :at OR (occurred_at = :at AND id < :after))"
        bound |= {"at": reader.stamp(parse_moment(moment)), "after": event_id}
    rows = await reader.rows(
        f"SELECT {_ALL} FROM {reader.events} WHERE {where} ORDER BY occurred_at DESC, id DESC LIMIT :limit",  # noqa: S608 - names of ours, values bound
        {**bound, "limit": limit + 1},
    )
    more, rows = len(rows) > limit, rows[:limit]
    return EventPage(rows, f"{rows[-1]['occurred_at'].isoformat()}~{rows[-1]['id']}" if more else None)


async def iterate_events(reader: Reader, which: Filter | None = None) -> AsyncIterator[list[dict[str, Any]]]:
    """Every event that the filter leaves, newest first, a page at a time."""
    cursor = None
    while True:
        page = await list_events(reader, which, limit=MAX_PAGE, cursor=cursor)
        if page.events:
            yield page.events
        cursor = page.cursor
        if cursor is None:
            return


async def count_events(reader: Reader, which: Filter | None = None) -> int:
    """How many recorded events the filter leaves."""
    where, bound = events_where(reader, which or Filter())
    (row,) = await reader.rows(f"SELECT COUNT(*) AS n FROM {reader.events} WHERE {where}", bound)  # noqa: S608 - names of ours, values bound
    return int(row["n"])
