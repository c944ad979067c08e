"""From any known state of a database to the current tables, as a list of statements for one transaction.

Databases of the published releases kept no version; they are recognised by their columns and rebuilt straight into the
current tables, rows kept. From version 3 on every change is a step of its own in `STEPS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..version import __version__
from .codec import now
from .ddl import create_index, create_table, quoted, sql_type
from .schema import EMBEDDINGS, EVENTS, LINKS, SCHEMA, TABLES, TOOL_CALLS, VERSION, Column, Dialect, Table
from .statements import Statement

FIRST_VERSIONED: Final = 3

VECTOR_FUNCTION: Final = "fastmcp_feedback_vector"
"""On SQLite: JSON text of a published release's vector -> 32-bit floats. The backend defines it."""

STEPS: Final[Mapping[int, Mapping[Dialect, tuple[str, ...]]]] = {}
"""Version -> statements that lead to it from the version before, `{prefix}` for the prefix. Version 4 will be the first."""

# What tells a published release's tables from somebody else's: these columns, and no table of versions.
_LEGACY_CALL_COLUMNS: Final = {
    "id", "started_at", "duration_ms", "tool", "mode", "ok", "outcome", "error_type", "error_message", "session_id", "request_id",
    "client_id", "user_sub", "caller_kind", "identity", "server_version", "args_size", "result_size", "args", "result", "extra",
}  # fmt: skip


class ForeignTables(Exception):
    """Tables of our names exist that are not ours; the text says which and what to do."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a database holds under our prefix: table (without prefix) -> column -> declared type, and the version."""

    tables: Mapping[str, Mapping[str, str]]
    version: int | None = None
    prefix: str = ""

    @property
    def release(self) -> int | None:
        """The schema version, told from the columns where none is recorded; None for an empty database."""
        if self.version is not None:
            return self.version
        calls = self.tables.get(TOOL_CALLS.name)
        if not self.tables:
            return None
        if SCHEMA.name in self.tables and not missing(self):
            return VERSION  # made from `build_metadata` by the host
        if calls is not None and set(calls) >= _LEGACY_CALL_COLUMNS and SCHEMA.name not in self.tables:
            return 2 if "sample_rate" in calls else 1
        names = ", ".join(self.prefix + name for name in sorted(self.tables))
        raise ForeignTables(f"table {names} exists and is not of this package: choose another prefix or another database")


@dataclass(frozen=True, slots=True)
class Target:
    """How the tables of one database are to be: what `ddl` needs to know."""

    dialect: Dialect
    prefix: str
    vector_type: str | None = None
    partitioned: bool = False


def plan(found: Found, target: Target) -> list[Statement]:
    """The statements that bring the database to `VERSION`; empty when there is nothing to do.

    Raises:
        ForeignTables: our table names are taken by somebody else's tables.
    """
    release = found.release
    if release is not None and release >= VERSION:
        return [(sql, {}) for sql in _repair(found, target)]
    statements: list[Statement] = []
    if release is None or release < FIRST_VERSIONED:
        statements += [(sql, {}) for sql in _build(found, target)]
    else:
        for version in range(release + 1, VERSION + 1):
            statements += [(sql.format(prefix=target.prefix), {}) for sql in STEPS[version][target.dialect]]
    return [*statements, _stamp(target)]


def missing(found: Found) -> list[str]:
    """Tables or columns that writing needs and that are not there, as `table` or `table.column`."""
    absent: list[str] = []
    for table in (TOOL_CALLS, EVENTS, LINKS):
        columns = found.tables.get(table.name)
        if columns is None:
            absent.append(table.name)
        else:
            absent += [f"{table.name}.{name}" for name in table.column_names if name not in columns]
    return absent


def _stamp(target: Target) -> Statement:
    names = SCHEMA.column_names
    values: dict[str, Any] = {"version": VERSION, "applied_at": now(target.dialect), "package_version": __version__}
    marks = ", ".join(f":{name}" for name in names)
    return f"INSERT INTO {quoted(target.prefix + SCHEMA.name)} ({', '.join(map(quoted, names))}) VALUES ({marks})", values  # noqa: S608


def _build(found: Found, target: Target) -> Iterator[str]:
    """Create what is missing, and change or rebuild what a published release made."""
    for table in TABLES:
        name = target.prefix + table.name
        partitioned = target.partitioned and table.time is not None
        source = found.tables.get(table.name)
        if source is None:
            yield create_table(table, target.dialect, name, vector_type=target.vector_type, partitioned=partitioned)
        elif target.dialect == "postgresql" and table is not EMBEDDINGS:
            yield from _alter(table, source, target)
        else:
            yield from _rebuild(table, source, target)
        for index in table.indexes:
            yield create_index(index, name)


def _repair(found: Found, target: Target) -> Iterator[str]:
    """Make anew what somebody dropped. Vectors are left out: a host may do without them."""
    for table in TABLES:
        if table.name not in found.tables and table is not EMBEDDINGS:
            name = target.prefix + table.name
            yield create_table(table, target.dialect, name, partitioned=target.partitioned and table.time is not None)
            for index in table.indexes:
                yield create_index(index, name)


_LEGACY_INDEXES: Final = {
    TOOL_CALLS.name: ("tool", "ok", "outcome", "session_id", "user_sub", "server_version", "started_at"),
    EVENTS.name: ("occurred_at", "kind", "key", "call_id", "user_sub"),
    LINKS.name: ("call_id",),
}


def _alter(table: Table, source: Mapping[str, str], target: Target) -> Iterator[str]:
    """PostgreSQL changes a table in place, so that grants stay: one statement, one pass over the rows."""
    name = quoted(target.prefix + table.name)
    for column_name in _LEGACY_INDEXES[table.name]:
        yield f"DROP INDEX IF EXISTS {quoted(f'ix_{target.prefix}{table.name}_{column_name}')}"
    changes: list[str] = []
    for column in table.columns:
        declared, place = sql_type(column, target.dialect, target.vector_type), quoted(column.name)
        value = _carried(table, column, source, target.dialect)
        if column.name not in source:
            default = f" NOT NULL DEFAULT {value}" if value is not None else ""
            changes.append(f"ADD COLUMN {place} {declared}{default}")
            continue
        changes.append(f"ALTER COLUMN {place} TYPE {declared} USING {value}")
        if column.name not in table.primary_key:
            changes.append(f"ALTER COLUMN {place} {'SET' if column.required else 'DROP'} NOT NULL")
    yield f"ALTER TABLE {name} " + ", ".join(changes)
    for column in table.columns:
        if column.name not in source and _carried(table, column, source, target.dialect) is not None:
            yield f"ALTER TABLE {name} ALTER COLUMN {quoted(column.name)} DROP DEFAULT"


def _rebuild(table: Table, source: Mapping[str, str], target: Target) -> Iterator[str]:
    """Copy into a new table and put it in the old one's place; indexes of the old one go with it."""
    name, new = target.prefix + table.name, f"{target.prefix}{table.name}_new"
    yield create_table(table, target.dialect, new, vector_type=target.vector_type, partitioned=False)
    pairs = [(column.name, _carried(table, column, source, target.dialect)) for column in table.columns]
    names = ", ".join(quoted(column) for column, value in pairs if value is not None)
    values = ", ".join(value for _, value in pairs if value is not None)
    yield f"INSERT INTO {quoted(new)} ({names}) SELECT {values} FROM {quoted(name)}"  # noqa: S608 - names of ours
    yield f"DROP TABLE {quoted(name)}"
    yield f"ALTER TABLE {quoted(new)} RENAME TO {quoted(name)}"
    if target.dialect == "postgresql":
        yield f"ALTER INDEX {quoted(new + '_pkey')} RENAME TO {quoted(name + '_pkey')}"


def _carried(table: Table, column: Column, source: Mapping[str, str], dialect: Dialect) -> str | None:
    """The expression that fills a new column from the old row; None leaves it NULL."""
    name = quoted(column.name)
    if column.name not in source:
        return _DEFAULTS.get((table.name, column.name))
    if table is TOOL_CALLS and column.name == "outcome":
        return f"COALESCE({name}, CASE WHEN ok THEN 'ok' ELSE 'error' END)"
    if table is EMBEDDINGS and column.kind == "vector":
        return name if dialect == "postgresql" else f"{VECTOR_FUNCTION}({name})"
    if dialect == "postgresql":
        cast = {"json": "JSONB", "time": "TIMESTAMP WITH TIME ZONE", "key": "TEXT", "text": "TEXT"}.get(column.kind)
        if column.kind == "json":
            return f"NULLIF(CAST({name} AS JSONB), 'null'::jsonb)"
        return f"CAST({name} AS {cast})" if cast else name
    if column.kind == "json":
        return f"NULLIF({name}, 'null')"
    if column.kind == "time":  # was 'YYYY-MM-DD HH:MM:SS[.ffffff]' in UTC
        return f"CASE WHEN {name} LIKE '%+__:__' THEN {name} ELSE replace(substr({name} || '.000000', 1, 26), ' ', 'T') || '+00:00' END"
    return name


_DEFAULTS: Final = {
    (TOOL_CALLS.name, "internal"): "FALSE",
    (LINKS.name, "linked_at"): "CURRENT_TIMESTAMP",
}
