"""A host's own SQLAlchemy AsyncEngine: used on the host's event loop, never disposed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy import exc as sa_exc

from ..sink import Record, RecordsRejected, SinkUnavailable
from . import migrations
from .codec import STAMPS, Part, Stamp, encode_rows, packed_vector
from .ddl import quoted
from .location import Location, hide_password
from .migrations import ForeignTables, Found, Target
from .pg_errors import explain as explain_pg
from .pg_errors import is_data_error
from .pg_schema import COLUMNS, VECTOR_AVAILABLE, lock_key
from .schema import DEFAULT_EMBEDDING_DIM, TABLES, Dialect, Kind, Table
from .statements import Statement

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

T = TypeVar("T")

_SQLITE_COLUMNS: Final = "SELECT 'r' AS kind, name, type FROM pragma_table_info(:name)"
_TYPES: Final[dict[Kind, sa.types.TypeEngine[Any]]] = {
    "key": sa.Text(), "text": sa.Text(), "json": sa.Text(), "real": sa.Double(), "int": sa.BigInteger(), "bool": sa.Boolean(),
    "time": sa.DateTime(timezone=True),
}  # fmt: skip


class EngineBackend:
    """The store through a host's AsyncEngine for SQLite or PostgreSQL, whatever its driver."""

    def __init__(self, engine: AsyncEngine, prefix: str, *, create_tables: bool, embedding_dim: int | None = None) -> None:
        name = engine.dialect.name
        if name not in STAMPS:
            raise ValueError(f"the engine is for {name!r}: DatabaseSink keeps records in SQLite or PostgreSQL")
        self.dialect: Dialect = "sqlite" if name == "sqlite" else "postgresql"
        self.decodes_json = self.dialect == "postgresql"  # SQLAlchemy's drivers do so, even for plain SQL
        self.location = Location(self.dialect, shown=hide_password(engine.url.render_as_string(hide_password=True)))
        self.prefix = prefix
        self.create_tables = create_tables
        self._engine = engine
        self._embedding_dim = embedding_dim
        self._stamp: Stamp = STAMPS[self.dialect]
        self._ready = False

    # -- what the sink asks for

    async def write(self, records: Sequence[Record]) -> int:
        """Store the records in one transaction; how many were sent."""
        return await self._guarded(lambda: self._write(records))

    async def query(self, statements: Sequence[Statement]) -> list[dict[str, Any]]:
        """Rows of all statements."""

        async def work() -> list[dict[str, Any]]:
            if self.create_tables:
                await self._prepared()
            async with self._engine.connect() as con:
                return [dict(row) for statement in statements for row in (await con.execute(*_bound(statement))).mappings()]

        return await self._guarded(work)

    async def execute(self, statements: Sequence[Statement], *, exclusive: bool = False) -> list[int]:
        """Run all in one transaction; rows changed by each."""

        async def work() -> list[int]:
            await self._prepared()
            async with self._engine.begin() as con:
                await self._lock(con, "links", shared=not exclusive)
                return [(await con.execute(*_bound(statement))).rowcount for statement in statements]

        return await self._guarded(work)

    async def prepare(self) -> None:
        """Bring the tables up to date if allowed."""
        await self._guarded(self._prepared)

    async def inspect(self) -> Found:
        """What the database holds under our prefix."""

        async def work() -> Found:
            async with self._engine.connect() as con:
                return await self._found(con)

        return await self._guarded(work)

    async def prune_partitions(self, cutoff: datetime) -> int:  # noqa: ARG002 - as the other backends
        """A host's engine has no partitions of ours."""
        return 0

    async def aclose(self) -> None:
        """Nothing is ours."""

    # -- inside

    async def _guarded(self, work: Callable[[], Awaitable[T]]) -> T:
        try:
            return await work()
        except (SinkUnavailable, RecordsRejected):
            raise
        except ForeignTables as exc:
            raise SinkUnavailable(f"{self.location.shown}: {exc}") from exc
        except (sa_exc.SQLAlchemyError, OSError, TimeoutError) as exc:
            self._ready = False
            raise self._explained(exc) from exc

    def _explained(self, exc: BaseException) -> SinkUnavailable:
        cause = getattr(exc, "orig", None) or exc
        if self.dialect == "sqlite":
            return SinkUnavailable(f"{self.location.shown} refused a statement ({type(cause).__name__}: {cause})")
        return explain_pg(cause, self.location.shown)

    async def _write(self, records: Sequence[Record]) -> int:
        parts, unusable = encode_rows(records, self._stamp)
        await self._prepared()
        try:
            await self._insert(parts)
        except (sa_exc.DBAPIError, OverflowError) as exc:
            if not _is_data_error(exc):
                raise
            await self._insert_each(parts, unusable)
        if unusable:
            raise RecordsRejected(unusable)
        return sum(len(part.rows) for part in parts)

    async def _insert(self, parts: list[Part]) -> None:
        async with self._engine.begin() as con:
            for part in parts:
                names = part.table.column_names
                rows = [dict(zip(names, row, strict=True)) for row in part.rows]
                await con.execute(_insert(part.table, self.prefix, self.dialect), rows)

    async def _insert_each(self, parts: list[Part], unusable: list[tuple[Record, str]]) -> None:
        for part in parts:
            for row, record in zip(part.rows, part.records, strict=True):
                try:
                    await self._insert([Part(part.table, [row], [record])])
                except (sa_exc.DBAPIError, OverflowError) as exc:
                    if not _is_data_error(exc):
                        raise
                    unusable.append((record, f"the database refuses it: {type(exc).__name__}"))

    async def _prepared(self) -> None:
        if self._ready:
            return
        target = Target(self.dialect, self.prefix)
        async with self._engine.connect() as con:
            found = await self._found(con)
        if self.create_tables and migrations.plan(found, target):
            async with self._engine.begin() as con:
                found = await self._upgrade(con)
        absent = migrations.missing(found)
        if absent:
            what = ", ".join(self.prefix + name for name in absent[:3])
            hint = "pass create_tables=True, or create the tables of build_metadata() with your migrations"
            raise SinkUnavailable(f"{self.location.shown} lacks {what}: {hint}")
        self._ready = True

    async def _upgrade(self, con: AsyncConnection) -> Found:
        if self.dialect == "sqlite":
            await con.exec_driver_sql("BEGIN IMMEDIATE")  # the driver begins by itself only before an INSERT
            driver = (await con.get_raw_connection()).driver_connection
            await driver.create_function(migrations.VECTOR_FUNCTION, 1, packed_vector)  # type: ignore[union-attr] # aiosqlite's
        await self._lock(con, "upgrade", shared=False)
        found = await self._found(con)
        vector = await self._vector_type(con, found)
        for statement in migrations.plan(found, Target(self.dialect, self.prefix, vector_type=vector)):
            if statement[1]:
                await con.execute(*_bound(statement))
            else:
                await con.exec_driver_sql(statement[0])
        return await self._found(con)

    async def _lock(self, con: AsyncConnection, purpose: str, *, shared: bool) -> None:
        if self.dialect == "postgresql":
            function = "pg_advisory_xact_lock_shared" if shared else "pg_advisory_xact_lock"
            await con.execute(sa.text(f"SELECT {function}(CAST(:key AS BIGINT))"), {"key": lock_key(self.prefix, purpose)})

    async def _vector_type(self, con: AsyncConnection, found: Found) -> str | None:
        if self.dialect == "sqlite":
            return None
        there = found.tables.get("embeddings", {}).get("embedding", "")
        if there.startswith("vector("):
            return there.upper()
        if not (await con.execute(sa.text(VECTOR_AVAILABLE))).scalar():
            return "BYTEA"
        try:
            async with con.begin_nested():
                await con.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
        except sa_exc.DBAPIError:
            return "BYTEA"  # this user may not install it
        return f"VECTOR({self._embedding_dim or DEFAULT_EMBEDDING_DIM})"

    async def _found(self, con: AsyncConnection) -> Found:
        sql = _SQLITE_COLUMNS if self.dialect == "sqlite" else COLUMNS.replace("$1", "CAST(:name AS TEXT)")
        tables: dict[str, dict[str, str]] = {}
        for table in TABLES:
            name = self.prefix + table.name
            rows = (await con.execute(sa.text(sql), {"name": name if self.dialect == "sqlite" else quoted(name)})).mappings().all()
            if rows and rows[0]["kind"] not in {"r", "p"}:
                raise ForeignTables(f"{name} exists and is no table: choose another prefix or another database")
            if rows:
                tables[table.name] = {row["name"]: row["type"] for row in rows}
        version = None
        if "version" in tables.get("schema", ()):
            version = (await con.execute(sa.text(f"SELECT max(version) FROM {quoted(self.prefix + 'schema')}"))).scalar()  # noqa: S608
        return Found(tables, version, self.prefix)


def _is_data_error(exc: BaseException) -> bool:
    if isinstance(exc, (sa_exc.DataError, sa_exc.IntegrityError, OverflowError)):
        return True
    return is_data_error(getattr(exc, "orig", None) or exc)


def _bound(statement: Statement) -> tuple[Any, dict[str, Any]]:
    """A statement with its times typed: a driver would otherwise take them for times without zone."""
    sql, values = statement
    times = [sa.bindparam(name, type_=_TYPES["time"]) for name, value in values.items() if isinstance(value, datetime)]
    return sa.text(sql).bindparams(*times), values


@lru_cache(maxsize=32)
def _insert(table: Table, prefix: str, dialect: Dialect) -> Any:
    """The insert of one row that leaves out what is there; JSON travels as the text that it is."""
    typed = dialect == "postgresql"
    marks = [f"CAST(:{c.name} AS JSONB)" if typed and c.kind == "json" else f":{c.name}" for c in table.columns]
    sql = (
        f"INSERT INTO {quoted(prefix + table.name)} ({', '.join(map(quoted, table.column_names))}) VALUES ({', '.join(marks)}) "  # noqa: S608 - names of ours
        f"ON CONFLICT ({', '.join(map(quoted, table.primary_key))}) DO NOTHING"
    )
    types = {c.name: _TYPES["text"] if c.kind == "time" and not typed else _TYPES[c.kind] for c in table.columns}
    return sa.text(sql).bindparams(*(sa.bindparam(name, type_=kind) for name, kind in types.items()))
