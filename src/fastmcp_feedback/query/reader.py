"""A database opened for reading: nothing is created, upgraded or changed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from ..store import DatabaseSink
from ..store.codec import STAMPS, read_row
from ..store.ddl import quoted
from ..store.location import locate
from ..store.migrations import ForeignTables
from ..store.schema import DEFAULT_PREFIX, TOOL_CALLS, VERSION
from ..store.statements import KINDS


class NotReadable(Exception):
    """There is nothing to read; `hint` says what to do."""

    def __init__(self, text: str, hint: str) -> None:
        super().__init__(text)
        self.hint = hint


class Reader:
    """Runs statements with named parameters and gives rows as dicts, times aware, JSON decoded."""

    def __init__(self, sink: DatabaseSink) -> None:
        self._sink = sink
        self.url = sink.url
        self.dialect = sink.dialect
        self.calls = quoted(sink.prefix + TOOL_CALLS.name)

    def stamp(self, moment: datetime) -> Any:
        """A time as the database compares it."""
        return STAMPS[self.dialect](moment)

    async def rows(self, sql: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        """The rows of one statement."""
        backend = self._sink.backend
        rows = await backend.query([(sql, parameters)])
        return [read_row(row, KINDS, json_decoded=backend.decodes_json) for row in rows]


@asynccontextmanager
async def open_reader(url: str, prefix: str = DEFAULT_PREFIX) -> AsyncIterator[Reader]:
    """Open a recorded database.

    Raises:
        NotReadable: it does not exist, is empty, is somebody else's, or needs an upgrade.
    """
    location = locate(url)
    if location.path is not None and not location.path.exists():
        raise NotReadable(f"there is no database at {location.path}", "record something first, or name another one with --db")
    sink = DatabaseSink(url, prefix=prefix, create_tables=False)
    try:
        await _check(sink)
        yield Reader(sink)
    finally:
        await sink.aclose()


async def _check(sink: DatabaseSink) -> None:
    try:
        found = await sink.backend.inspect()
    except ForeignTables as exc:
        raise NotReadable(str(exc), "name another database with --db") from exc
    if found.release is None:
        raise NotReadable(f"{sink.url} holds no recorded calls", "is it the right database? name another one with --db")
    if found.release < VERSION:
        raise NotReadable(f"{sink.url} was made by an older version", "upgrade it: fastmcp-feedback db upgrade")
