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
from ..store.schema import DEFAULT_PREFIX, EVENTS, FEEDBACK, LINKS, TOOL_CALLS, VERSION
from ..store.statements import KINDS

_STATEMENT_TIMEOUT_S = 60.0  # a question over millions of rows may take longer than a write


class NotReadable(Exception):
    """There is nothing to read; `hint` says what to do."""

    def __init__(self, text: str, hint: str) -> None:
        super().__init__(text)
        self.hint = hint


class Reader:
    """Runs statements with named parameters and gives rows as dicts, times aware, JSON decoded."""

    def __init__(self, sink: DatabaseSink) -> None:
        self.sink = sink
        self.url = sink.url
        self.dialect = sink.dialect
        self.calls = quoted(sink.prefix + TOOL_CALLS.name)
        self.events = quoted(sink.prefix + EVENTS.name)
        self.links = quoted(sink.prefix + LINKS.name)
        self.feedback = quoted(sink.prefix + FEEDBACK.name)

    def stamp(self, moment: datetime) -> Any:
        """A time as the database compares it."""
        return STAMPS[self.dialect](moment)

    def json_text(self, column: str, key: str) -> str:
        """SQL for one value of a JSON object as text; `key` is a name of ours."""
        return f"json_extract({column}, '$.{key}')" if self.dialect == "sqlite" else f"({column} ->> '{key}')"

    def json_number(self, column: str, key: str) -> str:
        """SQL for one number of a JSON object; NULL when it is none."""
        if self.dialect == "sqlite":
            kind = f"json_type({column}, '$.{key}')"
            return f"CASE WHEN {kind} IN ('integer', 'real') THEN json_extract({column}, '$.{key}') * 1.0 END"
        return f"CASE WHEN jsonb_typeof({column} -> '{key}') = 'number' THEN ({column} ->> '{key}')::double precision END"

    def epoch_s(self, column: str) -> str:
        """SQL for the whole seconds of a time since 1970."""
        if self.dialect == "sqlite":
            return f"CAST(strftime('%s', {column}) AS INTEGER)"
        return f"CAST(floor(EXTRACT(EPOCH FROM {column})) AS BIGINT)"

    async def rows(self, sql: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
        """The rows of one statement."""
        backend = self.sink.backend
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
    sink = DatabaseSink(url, prefix=prefix, create_tables=False, statement_timeout=_STATEMENT_TIMEOUT_S)
    try:
        await _check(sink)
        yield Reader(sink)
    finally:
        await sink.aclose()


async def _check(sink: DatabaseSink) -> None:
    try:
        release = (await sink.backend.inspect()).release
    except ForeignTables as exc:
        raise NotReadable(f"{sink.url}: {exc}", "name another database with --db") from exc
    if release is None:
        raise NotReadable(f"{sink.url} holds no recorded calls", "is it the right database? name another one with --db")
    if release < VERSION:
        raise NotReadable(f"{sink.url} was made by an older version", "upgrade it: fastmcp-feedback db upgrade")
