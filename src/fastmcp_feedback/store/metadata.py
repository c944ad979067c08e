"""The tables as SQLAlchemy metadata, for a host's own Alembic and queries."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.dialects.postgresql.base import ischema_names
from sqlalchemy.types import TypeDecorator, TypeEngine, UserDefinedType

from .. import jsonsafe
from .codec import json_text, stamp_text, utc
from .ddl import check_prefix
from .schema import DEFAULT_EMBEDDING_DIM, DEFAULT_PREFIX, EMBEDDINGS, TABLES, Column, Table

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect as SaDialect


class UtcTime(TypeDecorator[datetime]):
    """An aware UTC datetime; on SQLite ISO 8601 text with microseconds, which sorts by time."""

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: SaDialect) -> TypeEngine[Any]:
        """`TIMESTAMP WITH TIME ZONE` on PostgreSQL."""
        return dialect.type_descriptor(sa.DateTime(timezone=True) if dialect.name == "postgresql" else sa.Text())

    def process_bind_param(self, value: datetime | None, dialect: SaDialect) -> Any:
        """Text for SQLite."""
        if value is None:
            return None
        return utc(value) if dialect.name == "postgresql" else stamp_text(value)

    def process_result_value(self, value: Any, dialect: SaDialect) -> datetime | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Always aware."""
        if value is None:
            return None
        return utc(datetime.fromisoformat(value) if isinstance(value, str) else value)


class JsonValue(TypeDecorator[Any]):
    """JSONB on PostgreSQL, JSON text on SQLite; Python's None is SQL NULL."""

    impl = sa.Text
    cache_ok = True

    def load_dialect_impl(self, dialect: SaDialect) -> TypeEngine[Any]:
        """The column's type in that database."""
        if dialect.name == "postgresql":
            return dialect.type_descriptor(postgresql.JSONB(none_as_null=True))
        return dialect.type_descriptor(sa.Text())

    def process_bind_param(self, value: Any, dialect: SaDialect) -> Any:
        """Any value by the package's JSON-safe rule."""
        text = json_text(value)
        return text if text is None or dialect.name != "postgresql" else jsonsafe.loads(text)

    def process_result_value(self, value: Any, dialect: SaDialect) -> Any:
        """The decoded value."""
        return jsonsafe.loads(value) if value is not None and dialect.name != "postgresql" else value


class Vector(UserDefinedType[Any]):
    """pgvector's column type: enough for creating and comparing tables."""

    cache_ok = True

    def __init__(self, dim: int | None = None) -> None:
        self.dim = dim

    def get_col_spec(self, **_: Any) -> str:
        """SQL of the type."""
        return "VECTOR" if self.dim is None else f"VECTOR({self.dim})"


def register_vector() -> None:
    """Let SQLAlchemy's reflection know pgvector's type, unless the package pgvector has done so."""
    ischema_names.setdefault("vector", Vector)


def _sql_type(column: Column, embedding_dim: int) -> TypeEngine[Any]:
    if column.kind == "vector":
        return sa.LargeBinary().with_variant(Vector(embedding_dim), "postgresql")
    return _TYPES[column.kind]


_TYPES: Final[dict[str, TypeEngine[Any]]] = {
    "key": sa.Text().with_variant(sa.Text(collation="C"), "postgresql"),
    "text": sa.Text(),
    "time": UtcTime(),
    "json": JsonValue(),
    "real": sa.Double(),
    "int": sa.BigInteger(),
    "bool": sa.Boolean(),
}


def build_metadata(
    prefix: str = DEFAULT_PREFIX, metadata: sa.MetaData | None = None, embedding_dim: int | None = DEFAULT_EMBEDDING_DIM
) -> sa.MetaData:
    """Metadata of all tables, added to yours when you pass it. `embedding_dim=None` leaves out the table of vectors.

    >>> sorted(build_metadata("x_").tables)[:2]
    ['x_embeddings', 'x_events']

    Raises:
        ValueError: an unusable prefix.
    """
    check_prefix(prefix)
    target = metadata if metadata is not None else sa.MetaData()
    register_vector()
    for table in TABLES:
        if table is EMBEDDINGS and embedding_dim is None:
            continue
        _add(table, prefix + table.name, target, embedding_dim or DEFAULT_EMBEDDING_DIM)
    return target


def _add(table: Table, name: str, target: sa.MetaData, embedding_dim: int) -> None:
    columns = [
        sa.Column(
            c.name,
            _sql_type(c, embedding_dim),
            primary_key=c.name in table.primary_key,
            nullable=not c.required,
            autoincrement=False,
        )
        for c in table.columns
    ]
    made = sa.Table(name, target, *columns)
    for index in table.indexes:
        where = sa.text(index.where) if index.where else None
        sa.Index(index.name(name), *(made.c[column] for column in index.columns), sqlite_where=where, postgresql_where=where)
