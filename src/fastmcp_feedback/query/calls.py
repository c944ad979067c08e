"""Single calls: lists with keyset pages, and one call whole."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from ..store.ddl import quoted
from ..store.schema import TOOL_CALLS
from .filters import Filter
from .moments import FilterError, parse_moment
from .reader import Reader

MAX_PAGE = 1000
_LIST = ", ".join(quoted(name) for name in TOOL_CALLS.column_names if name not in {"args", "result"})
_ALL = ", ".join(quoted(name) for name in TOOL_CALLS.column_names)


@dataclass(frozen=True, slots=True)
class Page:
    """Calls, the newest first, and the cursor of the next page (None: this was the last)."""

    calls: list[dict[str, Any]]
    cursor: str | None


async def list_calls(
    reader: Reader, which: Filter | None = None, *, limit: int = 20, cursor: str | None = None, payloads: bool = False
) -> Page:
    """A page of calls, newest first. Pages go by time and id, so that calls recorded meanwhile shift nothing.

    Raises:
        FilterError: a cursor that is none, or a limit out of range.
    """
    if not 1 <= limit <= MAX_PAGE:
        raise FilterError(f"a page has 1 to {MAX_PAGE} calls, not {limit}")
    where, bound = (which or Filter()).where(reader.stamp)
    if cursor is not None:
        moment, _, call_id = cursor.partition("~")
        where += " AND (started_at < :at OR (started_at = :at AND id < :after))"
        bound |= {"at": reader.stamp(parse_moment(moment)), "after": call_id}
    rows = await reader.rows(
        f"SELECT {_ALL if payloads else _LIST} FROM {reader.calls} WHERE {where} ORDER BY started_at DESC, id DESC LIMIT :limit",  # noqa: S608 - names of ours, values bound
        {**bound, "limit": limit + 1},
    )
    more = len(rows) > limit
    rows = rows[:limit]
    last = rows[-1] if rows else None
    return Page(rows, f"{last['started_at'].isoformat()}~{last['id']}" if more and last else None)


async def iterate_calls(reader: Reader, which: Filter | None = None, *, payloads: bool = True) -> AsyncIterator[list[dict[str, Any]]]:
    """Every call that the filter leaves, newest first, a page at a time: memory does not grow with their number."""
    cursor = None
    while True:
        page = await list_calls(reader, which, limit=MAX_PAGE, cursor=cursor, payloads=payloads)
        if page.calls:
            yield page.calls
        cursor = page.cursor
        if cursor is None:
            return


async def count_calls(reader: Reader, which: Filter | None = None) -> int:
    """How many recorded calls the filter leaves."""
    where, bound = (which or Filter()).where(reader.stamp)
    (row,) = await reader.rows(f"SELECT COUNT(*) AS n FROM {reader.calls} WHERE {where}", bound)  # noqa: S608 - names of ours, values bound
    return int(row["n"])


async def find_call(reader: Reader, reference: str) -> dict[str, Any] | None:
    """One call with its payloads, by its id or the beginning of it (8 characters at least); None when there is none."""
    rows = await reader.rows(
        f"SELECT {_ALL} FROM {reader.calls} WHERE id >= :low AND id < :high ORDER BY id LIMIT 2",  # noqa: S608 - see above
        {"low": reference, "high": reference + "\U0010ffff"},
    )
    return rows[0] if len(rows) == 1 or (rows and rows[0]["id"] == reference) else None
