"""The tables as data: columns, keys and indexes, for every database the store knows.

`ddl.py` renders them as SQL, `metadata.py` as SQLAlchemy tables, `codec.py` fills them. A change here needs a step in
`migrations.py`; a test compares this page with the recorded schema of the current version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from ..records import CALL_FIELDS, EVENT_FIELDS

Dialect = Literal["sqlite", "postgresql"]
# `key`: a short text that is compared byte by byte; `text`: words of any length.
Kind = Literal["key", "text", "time", "real", "int", "bool", "json", "vector"]

VERSION: Final = 3
"""Version of these tables. 1 and 2 are those of the releases 2026.9.27.4 and 2026.10.5, which kept no version."""

DEFAULT_PREFIX: Final = "ffb_"
DEFAULT_EMBEDDING_DIM: Final = 1024


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `kind` decides its type in each database; times are UTC, durations milliseconds, sizes bytes."""

    name: str
    kind: Kind = "key"
    required: bool = False


@dataclass(frozen=True, slots=True)
class Index:
    """A B-tree index over `columns` in this order; `where` leaves out rows that nobody asks for by it."""

    columns: tuple[str, ...]
    where: str | None = None

    def name(self, table: str) -> str:
        """The index's name: `ix_<table>_<columns>`."""
        return "_".join(("ix", table, *self.columns))


@dataclass(frozen=True, slots=True)
class Table:
    """One table. `time` is the column that retention and partitions go by, where there is one."""

    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...]
    indexes: tuple[Index, ...] = ()
    time: str | None = None

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names in the order of the table."""
        return tuple(column.name for column in self.columns)

    def kinds(self) -> dict[str, Kind]:
        """Column name -> kind."""
        return {column.name: column.kind for column in self.columns}


_KINDS: Final[dict[str, Kind]] = {
    "started_at": "time", "occurred_at": "time", "duration_ms": "real", "sample_rate": "real", "ok": "bool",
    "args_size": "int", "result_size": "int",
    "identity": "json", "args": "json", "result": "json", "extra": "json", "attrs": "json",
    "error_message": "text",
}  # fmt: skip
_REQUIRED: Final = {"id", "tool", "started_at", "ok", "mode", "outcome", "kind", "occurred_at"}

DERIVED: Final = ("conversation_key", "conversation_basis", "trace_id", "span_id")
"""Columns of both records that `Derived` fills."""

CALL_DERIVED: Final = ("fault", "category", "fingerprint")
"""Columns of a call that `Failure` fills."""


def _fields(names: tuple[str, ...]) -> tuple[Column, ...]:
    return tuple(Column(name, _KINDS.get(name, "key"), name in _REQUIRED) for name in names)


TOOL_CALLS: Final = Table(
    "tool_calls",
    (
        *_fields(CALL_FIELDS),
        *_fields(CALL_DERIVED),
        Column("bad_arguments", "json"),
        *_fields(DERIVED),
        Column("parent_call_id"),
        Column("internal", "bool", required=True),
    ),
    primary_key=("id",),
    indexes=(
        Index(("started_at",)),
        Index(("tool", "started_at")),
        Index(("conversation_key", "started_at"), "conversation_key IS NOT NULL"),
        Index(("user_sub", "started_at"), "user_sub IS NOT NULL"),
        Index(("outcome", "started_at"), "outcome <> 'ok'"),
        Index(("fingerprint", "started_at"), "fingerprint IS NOT NULL"),
    ),
    time="started_at",
)

EVENTS: Final = Table(
    "events",
    (*_fields(EVENT_FIELDS), *_fields(DERIVED)),
    primary_key=("id",),
    indexes=(
        Index(("occurred_at",)),
        Index(("kind", "occurred_at")),
        Index(("key", "occurred_at"), "key IS NOT NULL"),
        Index(("call_id",), "call_id IS NOT NULL"),
        Index(("conversation_key", "occurred_at"), "conversation_key IS NOT NULL"),
    ),
    time="occurred_at",
)

LINKS: Final = Table(
    "feedback_call_links",
    (
        Column("feedback_ref", required=True),
        Column("call_id", required=True),
        Column("position", "int", required=True),
        Column("rule", required=True),
        Column("linked_at", "time", required=True),
        # What the link itself knew, for calls that are running, sampled out or not stored yet.
        Column("tool"),
        Column("started_at", "time"),
        Column("ok", "bool"),
    ),
    primary_key=("feedback_ref", "call_id"),
    indexes=(Index(("call_id",)),),
)

EMBEDDINGS: Final = Table(
    "embeddings",
    (
        Column("source_type", required=True),
        Column("source_id", required=True),
        Column("model", required=True),
        Column("dim", "int", required=True),
        Column("text", "text", required=True),
        Column("text_hash", required=True),
        Column("embedding", "vector"),
        Column("created_at", "time", required=True),
    ),
    primary_key=("source_type", "source_id", "model"),
    indexes=(Index(("created_at",)),),
)

FEEDBACK: Final = Table(
    "feedback",
    (
        Column("id", required=True),
        Column("type", required=True),
        Column("title", "text", required=True),
        Column("description", "text", required=True),
        Column("status", required=True),
        Column("submitter", "text"),
        Column("submitter_kind"),
        Column("verified", "bool", required=True),
        Column("contact_info", "text"),
        Column("tool"),
        Column("severity"),
        Column("conversation_key"),
        Column("session_id"),
        Column("user_sub"),
        Column("client_id"),
        Column("server_version"),
        Column("created_at", "time", required=True),
        Column("updated_at", "time", required=True),
        # Equal reports are folded into one: how many there were and when the last one came.
        Column("report_count", "int", required=True),
        Column("last_reported_at", "time"),
        Column("content_hash"),
        Column("duplicate_of"),
        Column("notes", "json"),
        Column("extra", "json"),
    ),
    primary_key=("id",),
    indexes=(
        Index(("created_at",)),
        Index(("status", "created_at")),
        Index(("content_hash",), "content_hash IS NOT NULL"),
        Index(("user_sub", "created_at"), "user_sub IS NOT NULL"),
        Index(("conversation_key", "created_at"), "conversation_key IS NOT NULL"),
    ),
)

SCHEMA: Final = Table(
    "schema",
    (
        Column("version", "int", required=True),
        Column("applied_at", "time", required=True),
        Column("package_version", required=True),
    ),
    primary_key=("version",),
)

TABLES: Final = (TOOL_CALLS, EVENTS, LINKS, EMBEDDINGS, FEEDBACK, SCHEMA)
