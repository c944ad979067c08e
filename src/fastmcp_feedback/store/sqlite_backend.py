"""SQLite without detours: one connection for writing and one for questions, each on a thread of its own."""

from __future__ import annotations

import sqlite3
import time
import weakref
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar

from ..sink import Record, RecordsRejected, SinkUnavailable
from ..worker import Worker
from . import migrations
from .codec import Part, encode_rows, packed_vector, stamp_text
from .ddl import quoted
from .location import Location
from .migrations import Found, Target
from .schema import EVENTS, TABLES, TOOL_CALLS, Dialect
from .sqlite_file import Handle, Identity, connect, explain, identity_of, make_private
from .sqlite_insert import Inserts
from .statements import Statement

T = TypeVar("T")

_GONE_GRACE_S: Final = 3.0  # a file that was moved away may come back
_DATA_ERRORS: Final = (sqlite3.DataError, sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError, OverflowError)


class SqliteBackend:
    """The store on one SQLite file, or in memory. Its methods may be awaited on any event loop."""

    dialect: Dialect = "sqlite"
    decodes_json = False
    stamp = staticmethod(stamp_text)

    def __init__(self, location: Location, prefix: str, *, create_tables: bool) -> None:
        self.location = location
        self.prefix = prefix
        self.create_tables = create_tables
        self.target = Target("sqlite", prefix)
        self._writer = Worker("fastmcp-feedback-sqlite")
        self._reader = self._writer if location.in_memory else Worker("fastmcp-feedback-sqlite-read")
        for worker in (self._writer, self._reader):  # when the sink is forgotten without aclose()
            weakref.finalize(self, worker.stop).atexit = False
        self._write_con = Handle()
        self._read_con = self._write_con if location.in_memory else Handle()
        self._gone_since: float | None = None
        self._check_again = False  # a table was missing: look before the next batch
        self._inserts = {table.name: Inserts(prefix + table.name, table) for table in (TOOL_CALLS, EVENTS)}

    # -- what the sink asks for

    async def write(self, records: Sequence[Record]) -> int:
        """Store the records in one transaction; how many of them are new."""
        return await self._writer.run(self._write, records)

    async def query(self, statements: Sequence[Statement]) -> list[dict[str, Any]]:
        """Rows of all statements; none while the database does not exist yet."""
        return await self._reader.run(self._query, statements)

    async def execute(self, statements: Sequence[Statement], *, exclusive: bool = False) -> list[int]:  # noqa: ARG002 - every writer is
        """Run all statements in one transaction; rows changed by each."""
        return await self._writer.run(self._in_transaction, lambda con: [con.execute(*s).rowcount for s in statements])

    async def prepare(self) -> None:
        """Open the database and bring its tables up to date, if allowed."""
        await self._writer.run(self._guard, self._connection)

    async def inspect(self) -> Found:
        """What the database holds under our prefix."""
        return await self._reader.run(self._guard, self._inspect)

    async def prune_partitions(self, cutoff: datetime) -> int:  # noqa: ARG002 - as the other backends
        """SQLite has no partitions."""
        return 0

    async def aclose(self) -> None:
        """Finish what is queued and close both connections."""
        if self._reader is not self._writer:
            await self._reader.run(self._read_con.close)
        await self._writer.run(self._write_con.close)
        self._reader.stop()
        self._writer.stop()

    # -- on the writer's thread

    def _guard(self, fn: Callable[[], T]) -> T:
        """Run, and turn SQLite's errors into what the operator can do about them."""
        try:
            return fn()
        except sqlite3.Error as exc:
            if "no such table" in str(exc):
                self._check_again = True
            raise explain(exc, self.location.shown) from exc
        except OSError as exc:
            raise explain(exc, self.location.shown) from exc

    def _write(self, records: Sequence[Record]) -> int:
        parts, unusable = encode_rows(records, stamp_text)
        stored = self._guard(lambda: self._store(parts, unusable)) if parts else 0
        if unusable:
            raise RecordsRejected(unusable)
        return stored

    def _store(self, parts: list[Part], unusable: list[tuple[Record, str]]) -> int:
        con = self._connection()
        try:
            return self._transaction(con, lambda c: self._insert_all(c, parts))
        except _DATA_ERRORS:
            return self._transaction(con, lambda c: self._insert_each(c, parts, unusable))

    def _insert_all(self, con: sqlite3.Connection, parts: list[Part]) -> int:
        before = con.total_changes
        for part in parts:
            self._inserts[part.table.name].run(con, part.rows)
        return con.total_changes - before

    def _insert_each(self, con: sqlite3.Connection, parts: list[Part], unusable: list[tuple[Record, str]]) -> int:
        """One by one, after a batch was refused: all but the guilty are stored."""
        stored = 0
        for part in parts:
            insert = self._inserts[part.table.name].one
            for row, record in zip(part.rows, part.records, strict=True):
                try:
                    stored += con.execute(insert, row).rowcount
                except _DATA_ERRORS as exc:
                    unusable.append((record, f"SQLite refuses it: {type(exc).__name__}"))
        return stored

    def _in_transaction(self, fn: Callable[[sqlite3.Connection], T]) -> T:
        return self._guard(lambda: self._transaction(self._connection(), fn))

    def _transaction(self, con: sqlite3.Connection, fn: Callable[[sqlite3.Connection], T]) -> T:
        con.execute("BEGIN IMMEDIATE")
        try:
            answer = fn(con)
            con.execute("COMMIT")
        except BaseException:
            if con.in_transaction:
                con.execute("ROLLBACK")
            raise
        return answer

    def _connection(self) -> sqlite3.Connection:
        """The writing connection, opened anew when the file is not the one that was opened."""
        path = self.location.path
        if path is not None:
            self._notice_moves(identity_of(path))
        con = self._write_con.get()
        if con is None:
            if path is not None:
                make_private(path)
            con = self._write_con.set(connect(path), identity_of(path) if path is not None else None)
            self._check_again = True
        if self._check_again:
            try:
                self._check_tables(con)
            except BaseException:
                if path is not None:
                    self._write_con.close()
                raise
            self._check_again = False
        return con

    def _notice_moves(self, here: Identity | None) -> None:
        if self._write_con.get() is None or here == self._write_con.identity:
            self._gone_since = None
            return
        if here is None:
            now = time.monotonic()
            self._gone_since = self._gone_since or now
            if now - self._gone_since < _GONE_GRACE_S:
                raise SinkUnavailable(f"{self.location.shown} has been removed or moved away; a new one is made if it does not come back")
        self._gone_since = None
        self._write_con.close()

    def _check_tables(self, con: sqlite3.Connection) -> None:
        try:
            if not self.create_tables:
                self._require(found_in(con, self.prefix))
                return
            if migrations.plan(found_in(con, self.prefix), self.target):
                self._transaction(con, self._upgrade)
        except migrations.ForeignTables as exc:
            raise SinkUnavailable(f"{self.location.shown}: {exc}") from exc

    def _upgrade(self, con: sqlite3.Connection) -> None:
        """Under the write lock: another process may just have done it."""
        con.create_function(migrations.VECTOR_FUNCTION, 1, packed_vector, deterministic=True)
        for sql, values in migrations.plan(found_in(con, self.prefix), self.target):
            con.execute(sql, values)

    def _require(self, found: Found) -> None:
        absent = migrations.missing(found)
        if absent:
            what = ", ".join(self.prefix + name for name in absent[:3])
            raise SinkUnavailable(
                f"{self.location.shown} lacks {what}: pass create_tables=True, or run `fastmcp-feedback db upgrade` on it"
            )

    # -- on the reader's thread

    def _query(self, statements: Sequence[Statement]) -> list[dict[str, Any]]:
        return self._guard(lambda: self._read(statements))

    def _read(self, statements: Sequence[Statement]) -> list[dict[str, Any]]:
        con = self._read_connection()
        if con is None:
            return []
        rows: list[dict[str, Any]] = []
        for sql, values in statements:
            try:
                cursor = con.execute(sql, values)
            except sqlite3.OperationalError as exc:
                if self.create_tables and "no such table" in str(exc):
                    return []
                raise
            names = [column[0] for column in cursor.description or ()]
            rows += [dict(zip(names, row, strict=True)) for row in cursor]
        return rows

    def _inspect(self) -> Found:
        con = self._read_connection()
        return Found({}) if con is None else found_in(con, self.prefix)

    def _read_connection(self) -> sqlite3.Connection | None:
        path = self.location.path
        if path is None:
            return self._connection()
        here = identity_of(path)
        if here is None:
            return None
        con = self._read_con.get()
        if con is None or self._read_con.identity != here:
            self._read_con.close()
            con = self._read_con.set(connect(path, read_only=True), here)
        return con


def found_in(con: sqlite3.Connection, prefix: str) -> Found:
    """The tables of ours that the database holds."""
    tables: dict[str, dict[str, str]] = {}
    for table in TABLES:
        columns = con.execute("SELECT name, type FROM pragma_table_info(?)", (prefix + table.name,)).fetchall()
        if columns:
            tables[table.name] = dict(columns)
    version = None
    if "version" in tables.get("schema", ()):
        (version,) = con.execute(f"SELECT max(version) FROM {quoted(prefix + 'schema')}").fetchone()  # noqa: S608 - a name of ours
    return Found(tables, version, prefix)
