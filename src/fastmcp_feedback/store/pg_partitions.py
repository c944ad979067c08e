"""Calls and events in partitions by time, so that retention drops tables instead of deleting rows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from ..ids import utc_now
from .codec import Part
from .pg_schema import lock_key
from .schema import EVENTS, LINKS, TOOL_CALLS

SIZES: Final = ("day", "week", "month")
_SPAN: Final = timedelta(days=800)  # older or far-future rows go to the default partition
_AHEAD: Final = timedelta(days=2)


class Partitions:
    """Creates the partitions that a batch needs, and finds those that are old."""

    def __init__(self, size: str, prefix: str) -> None:
        if size not in SIZES:
            raise ValueError(f"partitions must be one of {', '.join(SIZES)}, got {size!r}")
        self.size = size
        self._prefix = prefix
        self._known: set[str] = set()

    def bounds(self, moment: datetime) -> tuple[datetime, datetime]:
        """Start and end of the partition that holds the moment.

        >>> from datetime import UTC, datetime
        >>> start, end = Partitions("week", "x_").bounds(datetime(2026, 10, 2, 12, tzinfo=UTC))
        >>> start.date().isoformat(), end.date().isoformat()
        ('2026-09-28', '2026-10-05')
        """
        day = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        if self.size == "day":
            return day, day + timedelta(days=1)
        if self.size == "week":
            start = day - timedelta(days=day.weekday())
            return start, start + timedelta(days=7)
        start = day.replace(day=1)
        return start, (start + timedelta(days=32)).replace(day=1)

    async def ensure(self, con: Any, parts: Iterable[Part]) -> None:
        """Create what is missing for these rows, and the next partition in good time."""
        now = utc_now()
        needed: dict[str, tuple[str, datetime, datetime]] = {}
        for part in parts:
            column = part.table.column_names.index(part.table.time or "")
            for moment in {row[column] for row in part.rows} | {now + _AHEAD}:
                if abs(moment - now) <= _SPAN:
                    start, end = self.bounds(moment)
                    parent = self._prefix + part.table.name
                    needed[f"{parent}_{start:%Y%m%d}"] = (parent, start, end)
        for name in needed.keys() - self._known:
            await self._create(con, name, *needed[name])
            self._known.add(name)

    async def _create(self, con: Any, name: str, parent: str, start: datetime, end: datetime) -> None:
        async with con.transaction():
            await con.execute("SELECT pg_advisory_xact_lock($1)", lock_key(self._prefix, "upgrade"))
            span = f"FROM ('{start.isoformat()}') TO ('{end.isoformat()}')"
            await con.execute(f'CREATE TABLE IF NOT EXISTS "{name}" PARTITION OF "{parent}" FOR VALUES {span}')

    async def droppable(self, con: Any, cutoff: datetime) -> list[tuple[str, str]]:
        """(parent, partition) pairs that end before the cutoff."""
        found: list[tuple[str, str]] = []
        for table in (TOOL_CALLS, EVENTS):
            parent = self._prefix + table.name
            names = await con.fetch(
                "SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = to_regclass($1)",
                f'"{parent}"',
            )
            for row in names:
                day = row["relname"].removeprefix(parent + "_")
                if day.isdigit() and self.bounds(datetime.strptime(day, "%Y%m%d").replace(tzinfo=UTC))[1] <= cutoff:
                    found.append((parent, row["relname"]))
        return sorted(found)

    async def drop_old(self, con: Any, cutoff: datetime) -> int:
        """Drop partitions that are old as a whole and hold no linked call; how many rows went with them."""
        gone = 0
        links = f'"{self._prefix}{LINKS.name}"'
        for parent, name in await self.droppable(con, cutoff):
            key = "id" if parent == self._prefix + TOOL_CALLS.name else "call_id"
            async with con.transaction():
                await con.execute("SELECT pg_advisory_xact_lock($1)", lock_key(self._prefix, "links"))
                if await con.fetchval(f'SELECT EXISTS (SELECT FROM "{name}" t JOIN {links} l ON l.call_id = t.{key})'):  # noqa: S608 - names of ours
                    continue
                gone += await con.fetchval(f'SELECT count(*) FROM "{name}"')  # noqa: S608 - a name of ours
                await con.execute(f'DROP TABLE "{name}"')
            self.forget(name)
        return gone

    def forget(self, name: str) -> None:
        """The partition is no more."""
        self._known.discard(name)
