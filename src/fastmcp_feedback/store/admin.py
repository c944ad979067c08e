"""What an operator does to a database: look at it, upgrade it, print the SQL. Plain functions for the command line."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

from ..contain import contain
from . import migrations, statements
from .database_sink import DatabaseSink
from .ddl import check_prefix
from .migrations import Found, Target
from .schema import DEFAULT_PREFIX, TABLES, VERSION, Dialect
from .statements import Statement

T = TypeVar("T")

_NAMED: Final = re.compile(r"(?<!:):([a-z_][a-z0-9_]*)")
RELEASES: Final = {1: "release 2026.9.27.4", 2: "release 2026.10.5"}


@dataclass(frozen=True, slots=True)
class Status:
    """What a database holds: `version` None means that it has no tables of ours; `rows` counts them by table."""

    url: str
    dialect: Dialect
    version: int | None
    made_by: str | None
    wanted: int
    missing: tuple[str, ...]
    rows: dict[str, int]

    @property
    def up_to_date(self) -> bool:
        """Is there nothing to upgrade?"""
        return self.version is not None and self.version >= self.wanted and not self.missing


def status(url: str, prefix: str = DEFAULT_PREFIX) -> Status:
    """Look at a database without changing it. A missing SQLite file is not created.

    Raises:
        SinkUnavailable: it cannot be reached; the text says why.
        ForeignTables: tables of our names are somebody else's.
    """
    return _with_sink(url, prefix, _status)


def upgrade(url: str, prefix: str = DEFAULT_PREFIX) -> tuple[int | None, int]:
    """Create or upgrade the tables; the version before and after. A failed step leaves everything as it was.

    Raises:
        SinkUnavailable: it cannot be done; the text says why.
    """

    async def work(sink: DatabaseSink) -> tuple[int | None, int]:
        before = (await sink.backend.inspect()).release
        await sink.backend.prepare()
        return before, VERSION

    return _with_sink(url, prefix, work, create_tables=True)


def sql(url_or_dialect: str, prefix: str = DEFAULT_PREFIX) -> str:
    """The SQL script that makes the current tables: for a new database of a dialect, or what a URL's database still needs.

    >>> print(sql("sqlite").splitlines()[0])
    BEGIN;
    """
    if url_or_dialect in {"sqlite", "postgresql"}:
        dialect: Dialect = "sqlite" if url_or_dialect == "sqlite" else "postgresql"
        return _script(migrations.plan(Found({}), Target(dialect, check_prefix(prefix))))

    async def work(sink: DatabaseSink) -> str:
        return _script(migrations.plan(await sink.backend.inspect(), Target(sink.dialect, prefix)))

    return _with_sink(url_or_dialect, prefix, work)


def prune(url: str, older_than: str | datetime, prefix: str = DEFAULT_PREFIX, *, on_progress: Callable[[int], None] | None = None) -> int:
    """Delete calls and events that are older, but no linked call; how many went. `on_progress` hears of every batch."""
    return _with_sink(url, prefix, lambda sink: sink.prune(older_than, on_progress=on_progress))


async def _status(sink: DatabaseSink) -> Status:
    found = await sink.backend.inspect()
    release = found.release
    rows = {}
    for table in TABLES:
        if table.name in found.tables:
            (counted,) = await sink.backend.query([statements.count_rows(sink.prefix, table.name)])
            rows[table.name] = int(counted["n"])
    return Status(
        url=sink.url,
        dialect=sink.dialect,
        version=release,
        made_by=None if release is None else RELEASES.get(release, f"schema version {release}"),
        wanted=VERSION,
        missing=tuple(migrations.missing(found)) if release is not None and release >= VERSION else (),
        rows=rows,
    )


def _with_sink(url: str, prefix: str, work: Callable[[DatabaseSink], Awaitable[T]], *, create_tables: bool = False) -> T:
    async def run() -> T:
        sink = DatabaseSink(url, prefix=prefix, create_tables=create_tables)
        try:
            return await work(sink)
        finally:
            with contain("closing the database"):
                await sink.aclose()

    return asyncio.run(run())


def _script(planned: Iterable[Statement]) -> str:
    """One transaction as text. The few bound values are numbers and short texts of ours."""
    lines = [_NAMED.sub(lambda match: _literal(values[match[1]]), text) if values else text for text, values in planned]  # noqa: B023 - called at once
    return "BEGIN;\n" + "".join(f"{line};\n" for line in lines) + "COMMIT;\n" if lines else ""


def _literal(value: Any) -> str:
    if isinstance(value, int):
        return str(value)
    return "'" + str(value).replace("'", "''") + "'"
