"""SQL text that creates the tables of `schema.py`. Names come from the host's prefix, which is checked once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .schema import DEFAULT_EMBEDDING_DIM, TABLES, Column, Dialect, Index, Kind, Table

_PREFIX: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,30}")

SQL_TYPES: Final[dict[Dialect, dict[Kind, str]]] = {
    "sqlite": {
        "key": "TEXT",
        "text": "TEXT",
        # TEXT and not DATETIME or JSON, whose numeric affinity would turn digits into floats.
        "time": "TEXT",
        "json": "TEXT",
        "real": "DOUBLE",
        "int": "BIGINT",
        "bool": "BOOLEAN",
        "vector": "BLOB",
    },
    "postgresql": {
        "key": 'TEXT COLLATE "C"',
        "text": "TEXT",
        "time": "TIMESTAMP WITH TIME ZONE",
        "json": "JSONB",
        "real": "DOUBLE PRECISION",
        "int": "BIGINT",
        "bool": "BOOLEAN",
        "vector": "VECTOR({dim})",
    },
}


def check_prefix(prefix: str) -> str:
    """The prefix itself.

    Raises:
        ValueError: it is not letters, digits and `_`, or too long: it becomes part of SQL.
    """
    if prefix and not _PREFIX.fullmatch(prefix):
        raise ValueError(f"prefix must be letters, digits and '_' (at most 31, no leading digit), got {prefix!r}")
    return prefix


def quoted(name: str) -> str:
    """An identifier in SQL. Ours hold no quotes: they come from `schema.py` and a checked prefix."""
    return f'"{name}"'


def sql_type(column: Column, dialect: Dialect, vector_type: str | None = None) -> str:
    """The column's type; `vector_type` replaces that of vectors where the extension is missing."""
    if column.kind == "vector" and vector_type is not None:
        return vector_type
    return SQL_TYPES[dialect][column.kind].format(dim=DEFAULT_EMBEDDING_DIM)


def create_table(table: Table, dialect: Dialect, name: str, *, vector_type: str | None = None, partitioned: bool = False) -> str:
    """`CREATE TABLE` under the given full name."""
    key = table.primary_key
    if partitioned and table.time is not None:
        key = (*key, table.time)
    lines = [f"{quoted(c.name)} {sql_type(c, dialect, vector_type)}{' NOT NULL' if c.required else ''}" for c in table.columns]
    lines.append(f"PRIMARY KEY ({', '.join(map(quoted, key))})")
    tail = f" PARTITION BY RANGE ({quoted(table.time)})" if partitioned and table.time is not None else ""
    return f"CREATE TABLE {quoted(name)} (\n  " + ",\n  ".join(lines) + f"\n){tail}"


def create_index(index: Index, table_name: str) -> str:
    """`CREATE INDEX` on the table of that full name."""
    where = f" WHERE {index.where}" if index.where else ""
    return f"CREATE INDEX {quoted(index.name(table_name))} ON {quoted(table_name)} ({', '.join(map(quoted, index.columns))}){where}"


def create_partition_default(name: str) -> str:
    """The partition for rows whose time is far from now."""
    return f"CREATE TABLE IF NOT EXISTS {quoted(name + '_default')} PARTITION OF {quoted(name)} DEFAULT"


_ARRAYS: Final[dict[Kind, str]] = {"time": "timestamptz[]", "json": "jsonb[]", "real": "float8[]", "int": "int8[]", "bool": "bool[]"}


def insert_unnest(table: Table, name: str, keys: tuple[str, ...]) -> str:
    """PostgreSQL: insert columns given as arrays, leave out rows whose key is there, return the ids of the others."""
    columns = ", ".join(quoted(column.name) for column in table.columns)
    arrays = ", ".join(f"${n}::{_ARRAYS.get(column.kind, 'text[]')}" for n, column in enumerate(table.columns, 1))
    return (
        f"INSERT INTO {quoted(name)} ({columns}) SELECT * FROM unnest({arrays}) "  # noqa: S608 - names of ours, values bound
        f"ON CONFLICT ({', '.join(map(quoted, keys))}) DO NOTHING RETURNING id"
    )


def create_all(dialect: Dialect, prefix: str, *, vector_type: str | None = None, partitioned: bool = False) -> Iterator[str]:
    """Every statement that a fresh database needs."""
    for table in TABLES:
        name = prefix + table.name
        yield create_table(table, dialect, name, vector_type=vector_type, partitioned=partitioned and table.time is not None)
        for index in table.indexes:
            yield create_index(index, name)
