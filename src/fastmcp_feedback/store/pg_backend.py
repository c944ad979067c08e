"""PostgreSQL through asyncpg: COPY for writing, a few connections for questions, all on a loop of our own."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from ..contain import warn_once
from ..sink import Record, RecordsRejected, SinkUnavailable
from . import migrations, pg_partitions, pg_schema
from .codec import Part, encode_rows, utc
from .ddl import insert_unnest
from .location import Location
from .loop_thread import LoopThread
from .migrations import Found
from .pg_connections import Connections
from .pg_errors import UNIQUE_VIOLATION, explain, is_data_error, sqlstate
from .schema import Dialect
from .statements import Statement

T = TypeVar("T")


class PostgresBackend:
    """The store on one PostgreSQL database. Its methods may be awaited on any event loop."""

    dialect: Dialect = "postgresql"
    decodes_json = False

    def __init__(
        self,
        location: Location,
        prefix: str,
        *,
        create_tables: bool,
        embedding_dim: int | None = None,
        partitions: str | None = None,
        statement_timeout_s: float = 8.0,
        pgbouncer: bool = False,
    ) -> None:
        self._connections = Connections(location, statement_timeout_s, pgbouncer=pgbouncer)
        self.location = location
        self.prefix = prefix
        self.create_tables = create_tables
        self._embedding_dim = embedding_dim
        self.partitions = None if partitions is None else pg_partitions.Partitions(partitions, prefix)
        self._thread = LoopThread("fastmcp-feedback-postgres")
        self._start_over(None)

    def _start_over(self, loop: object) -> None:
        """Nothing of another loop is of use: at the start, after a close, in the child after a fork."""
        self._loop = loop
        self._connections.forget()
        self._writing = asyncio.Lock()
        self._preparing: asyncio.Task[None] | None = None
        self._ready = False

    # -- what the sink asks for

    async def write(self, records: Sequence[Record]) -> int:
        """Store the records in one transaction; how many of them are new."""
        return await self._run(lambda: self._write(records))

    async def query(self, statements: Sequence[Statement]) -> list[dict[str, Any]]:
        """Rows of all statements; none while the tables do not exist yet and may be created."""
        return await self._run(lambda: self._query(statements))

    async def execute(self, statements: Sequence[Statement], *, exclusive: bool = False) -> list[int]:
        """Run all in one transaction; rows changed by each. Pruning is `exclusive`: no link is written meanwhile."""
        return await self._run(lambda: self._execute(statements, exclusive))

    async def prepare(self) -> None:
        """Connect, and bring the tables up to date if allowed."""
        await self._run(self._prepared)

    async def inspect(self) -> Found:
        """What the database holds under our prefix."""
        return await self._run(lambda: self._connections.with_reader(lambda con: pg_schema.found_in(con, self.prefix)))

    async def prune_partitions(self, cutoff: datetime) -> int:
        """Drop the partitions that are old as a whole; how many rows went."""
        partitions = self.partitions
        if partitions is None:
            return 0

        async def work() -> int:
            await self._prepared()
            return await self._connections.with_reader(lambda con: partitions.drop_old(con, cutoff))

        return await self._run(work)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._run(self._connections.close)
        self._thread.stop()

    # -- on our loop

    async def _run(self, work: Callable[[], Awaitable[T]]) -> T:
        return await self._thread.run(self._guarded(work))

    async def _guarded(self, work: Callable[[], Awaitable[T]]) -> T:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._start_over(loop)
        try:
            return await work()
        except (SinkUnavailable, RecordsRejected):
            raise
        except migrations.ForeignTables as exc:
            raise SinkUnavailable(f"{self.location.shown}: {exc}") from exc
        except self._connections.unreachable as exc:
            raise explain(exc, self.location.shown) from exc

    async def _prepared(self) -> None:
        """Once: tables are there. The work goes on when one who waits for it gives up."""
        if self._ready:
            return
        if self._preparing is None or self._preparing.done():
            self._preparing = asyncio.get_running_loop().create_task(self._prepare())
        await asyncio.shield(self._preparing)

    async def _prepare(self) -> None:
        con = await self._connections.connect()
        try:
            if self.create_tables:
                partitioned = self.partitions is not None
                await pg_schema.upgrade(con, self.prefix, embedding_dim=self._embedding_dim, partitioned=partitioned)
            absent = migrations.missing(await pg_schema.found_in(con, self.prefix))
            if absent:
                what = ", ".join(self.prefix + name for name in absent[:3])
                hint = "pass create_tables=True, or run `fastmcp-feedback db upgrade` on it"
                raise SinkUnavailable(f"{self.location.shown} lacks {what}: {hint}")
            if self.partitions is not None and not await pg_schema.is_partitioned(con, self.prefix):
                warn_once("partitions", "%s holds plain tables already: partitions are left out", self.location.shown)
                self.partitions = None
            self._ready = True
        finally:
            await con.close()

    # -- writing

    async def _write(self, records: Sequence[Record]) -> int:
        parts, unusable = encode_rows(records, utc)
        await self._prepared()
        stored = 0
        async with self._writing:
            if self.partitions is not None and parts:
                await self._connections.with_writer(lambda con: self._grow(con, parts))
            try:
                stored = await self._connections.with_writer(lambda con: self._copy(con, parts)) if parts else 0
            except self._connections.errors as exc:
                if not is_data_error(exc):
                    self._forget_tables(exc)
                    raise
                for part in parts:
                    stored += await self._insert(part, unusable, whole=sqlstate(exc) == UNIQUE_VIOLATION)
        if unusable:
            raise RecordsRejected(unusable)
        return stored

    async def _grow(self, con: Any, parts: list[Part]) -> None:
        assert self.partitions is not None
        await self.partitions.ensure(con, parts)

    def _forget_tables(self, exc: BaseException) -> None:
        """A table has gone: look again, and create it again if allowed, before the next batch."""
        if (sqlstate(exc) or "").startswith("42"):
            self._ready = False

    async def _copy(self, con: Any, parts: list[Part]) -> int:
        """The fast road: straight into the tables. A row that is there already makes it fail as a whole."""
        async with contextlib.nullcontext() if len(parts) == 1 else con.transaction():  # one COPY is a transaction of its own
            for part in parts:
                await con.copy_records_to_table(self.prefix + part.table.name, records=part.rows, columns=part.table.column_names)
        return sum(len(part.rows) for part in parts)

    async def _insert(self, part: Part, unusable: list[tuple[Record, str]], *, whole: bool) -> int:
        """The careful road: leaves out what is there; halves until the rows that cannot be stored are alone."""
        keys = (*part.table.primary_key, *((part.table.time,) if self.partitions is not None and part.table.time else ()))
        sql = insert_unnest(part.table, self.prefix + part.table.name, keys)
        stack = [Part(part.table, part.rows, part.records)] if whole else _halves(part)
        stored = 0
        while stack:
            piece = stack.pop()
            try:
                columns = [list(column) for column in zip(*piece.rows, strict=True)]
                stored += len(await self._connections.with_writer(lambda con: con.fetch(sql, *columns)))  # noqa: B023 - awaited at once
            except self._connections.errors as exc:
                if not is_data_error(exc):
                    raise
                if len(piece.rows) == 1:
                    unusable.append((piece.records[0], f"PostgreSQL refuses it: {type(exc).__name__}"))
                else:
                    stack += _halves(piece)
        return stored

    async def _execute(self, statements: Sequence[Statement], exclusive: bool) -> list[int]:
        await self._prepared()
        lock = "SELECT pg_advisory_xact_lock($1)" if exclusive else "SELECT pg_advisory_xact_lock_shared($1)"

        async def work(con: Any) -> list[int]:
            async with con.transaction():
                await con.execute(lock, pg_schema.lock_key(self.prefix, "links"))
                return [await _changed(con, statement) for statement in statements]

        return await self._connections.with_reader(work)

    # -- questions

    async def _query(self, statements: Sequence[Statement]) -> list[dict[str, Any]]:
        if not self._ready and self.create_tables:
            await self._prepared()

        async def work(con: Any) -> list[dict[str, Any]]:
            rows: list[dict[str, Any]] = []
            for statement in statements:
                sql, values = pg_schema.bound(statement)
                rows += [dict(row) for row in await con.fetch(sql, *values)]
            return rows

        return await self._connections.with_reader(work)


def _halves(part: Part) -> list[Part]:
    middle = max(1, len(part.rows) // 2)
    pieces = [Part(part.table, part.rows[a:b], part.records[a:b]) for a, b in ((0, middle), (middle, len(part.rows)))]
    return [piece for piece in pieces if piece.rows]


async def _changed(con: Any, statement: Statement) -> int:
    """Rows that a statement changed, from PostgreSQL's command tag (`DELETE 3`)."""
    sql, values = pg_schema.bound(statement)
    tag: str = await con.execute(sql, *values)
    count = tag.rpartition(" ")[2]
    return int(count) if count.isdigit() else 0
