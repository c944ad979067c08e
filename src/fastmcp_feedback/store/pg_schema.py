"""PostgreSQL's catalogue: what a database holds under our prefix, and bringing it up to date."""

from __future__ import annotations

import re
import zlib
from functools import lru_cache
from typing import Any, Final

from . import migrations
from .ddl import create_partition_default
from .migrations import ForeignTables, Found, Target
from .schema import DEFAULT_EMBEDDING_DIM, EVENTS, TABLES, TOOL_CALLS
from .statements import Statement

_NAMED: Final = re.compile(r"(?<!:):([a-z_][a-z0-9_]*)")
COLUMNS: Final = """
    SELECT c.relkind::text AS kind, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.oid = to_regclass($1)
"""
VECTOR_AVAILABLE: Final = "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector')"


@lru_cache(maxsize=512)
def numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    """The statement with `$1` for the first `:name`, and the names in that order.

    >>> numbered("SELECT :a, 'x'::text, :b, :a")
    ("SELECT $1, 'x'::text, $2, $1", ('a', 'b'))
    """
    names: list[str] = []

    def place(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    return _NAMED.sub(place, sql), tuple(names)


def bound(statement: Statement) -> tuple[str, list[Any]]:
    """Statement and positional values for asyncpg."""
    sql, names = numbered(statement[0])
    return sql, [statement[1][name] for name in names]


def lock_key(prefix: str, purpose: str) -> int:
    """The advisory lock of one prefix: for `upgrade`, or for `links` against pruning."""
    return zlib.crc32(f"fastmcp-feedback:{purpose}:{prefix}".encode())


async def found_in(con: Any, prefix: str) -> Found:
    """The tables of ours that the database holds."""
    tables: dict[str, dict[str, str]] = {}
    for table in TABLES:
        columns = await con.fetch(COLUMNS, f'"{prefix}{table.name}"')
        if columns and columns[0]["kind"] not in {"r", "p"}:
            raise ForeignTables(f"{prefix}{table.name} exists and is no table: choose another prefix or another database")
        if columns:
            tables[table.name] = {row["name"]: row["type"] for row in columns}
    version = None
    if "version" in tables.get("schema", ()):
        version = await con.fetchval(f'SELECT max(version) FROM "{prefix}schema"')  # noqa: S608 - a name of ours
    return Found(tables, version, prefix)


async def is_partitioned(con: Any, prefix: str) -> bool:
    """Are the calls kept in partitions?"""
    kind = await con.fetchval("SELECT relkind::text FROM pg_class WHERE oid = to_regclass($1)", f'"{prefix}{TOOL_CALLS.name}"')
    return bool(kind == "p")


async def upgrade(con: Any, prefix: str, *, embedding_dim: int | None, partitioned: bool) -> bool:
    """Create or upgrade under an advisory lock, in one transaction; False when there was nothing to do."""
    target = Target("postgresql", prefix, partitioned=partitioned)
    if not migrations.plan(await found_in(con, prefix), target):
        return False
    async with con.transaction():
        await con.execute("SELECT pg_advisory_xact_lock($1)", lock_key(prefix, "upgrade"))
        await con.execute("SET LOCAL statement_timeout = 0")
        found = await found_in(con, prefix)
        if not migrations.plan(found, target):
            return False  # another process has just done it
        vector = await _vector_type(con, found, embedding_dim)
        target = Target("postgresql", prefix, vector_type=vector, partitioned=partitioned)
        for statement in migrations.plan(found, target):
            sql, values = bound(statement)
            await con.execute(sql, *values)
        if partitioned and await is_partitioned(con, prefix):
            for table in (TOOL_CALLS, EVENTS):
                await con.execute(create_partition_default(prefix + table.name))
    return True


async def _vector_type(con: Any, found: Found, embedding_dim: int | None) -> str:
    """The type of pgvector when the server has that extension, else bytes."""
    there = found.tables.get("embeddings", {}).get("embedding", "")
    if there.startswith("vector("):
        return there.upper()
    if not await con.fetchval(VECTOR_AVAILABLE):
        return "BYTEA"
    try:
        async with con.transaction():
            await con.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except Exception as exc:
        if getattr(exc, "sqlstate", None) is not None:
            return "BYTEA"  # this user may not install it
        raise
    return f"VECTOR({embedding_dim or DEFAULT_EMBEDDING_DIM})"
