"""`DatabaseSink`: records into SQLite or PostgreSQL, each exactly once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ..records import CallLink
from ..sink import Record
from . import statements
from .codec import STAMPS, read_row
from .ddl import check_prefix
from .durations import seconds
from .location import Location, locate
from .migrations import Found
from .pruner import Pruner
from .schema import DEFAULT_PREFIX, Dialect
from .statements import Statement

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine


class Backend(Protocol):
    """What a database has to offer to the sink."""

    dialect: Dialect
    decodes_json: bool

    async def write(self, records: Sequence[Record]) -> int:
        """Store the records; how many of them are new."""
        ...

    async def query(self, statements: Sequence[Statement]) -> list[dict[str, Any]]:
        """Rows of all statements."""
        ...

    async def execute(self, statements: Sequence[Statement], *, exclusive: bool = False) -> list[int]:
        """Run all in one transaction; rows changed by each. With `exclusive` no link is written meanwhile."""
        ...

    async def prune_partitions(self, cutoff: datetime) -> int:
        """Drop partitions that are old as a whole; how many rows went."""
        ...

    async def prepare(self) -> None:
        """Open, and bring the tables up to date if allowed."""
        ...

    async def inspect(self) -> Found:
        """What the database holds."""
        ...

    async def aclose(self) -> None:
        """Let go of what is ours."""
        ...


class DatabaseSink:
    """Keeps records in a database, each exactly once, and answers what linking asks.

    Args:
        engine_or_url: A URL (`sqlite:///calls.db`, `postgresql://user@host/name`; the async driver is chosen for you)
            or a SQLAlchemy `AsyncEngine` of yours, which is used on your event loop and never disposed.
        prefix: Begins every table's name.
        create_tables: Create the tables, and upgrade those of an older version. None: yes for an SQLite URL, else no.
        retention: How long calls and events are kept: a timedelta or text such as `"30 d"`. None: for ever.
        prune_interval: How often old rows are looked for, in seconds, as timedelta or text.
        prune_batch: Rows deleted in one transaction.
        embedding_dim: Dimension of stored vectors; None until an embedder says so.
        statement_timeout: PostgreSQL gives up a statement after so many seconds; keep it below `sink_timeout`.
        pgbouncer: PostgreSQL stands behind PgBouncer in transaction mode: no prepared statements are kept.
        partitions: PostgreSQL keeps calls and events in one table for each `day`, `week` or `month`, and retention
            drops whole tables. Only for tables that are made new.

    Raises:
        ValueError: an unsupported or malformed URL, prefix or duration.
        ImportError: the database's driver is not installed; names the package and the extra.

    >>> import asyncio
    >>> sink = DatabaseSink("sqlite:///:memory:")
    >>> asyncio.run(sink.read_calls(["no such id"]))
    []
    """

    def __init__(
        self,
        engine_or_url: str | AsyncEngine,
        *,
        prefix: str = DEFAULT_PREFIX,
        create_tables: bool | None = None,
        retention: timedelta | str | None = None,
        prune_interval: float | timedelta | str = 3600.0,
        prune_batch: int = 5000,
        embedding_dim: int | None = None,
        statement_timeout: float | timedelta | str = 8.0,
        pgbouncer: bool = False,
        partitions: Literal["day", "week", "month"] | None = None,
    ) -> None:
        self.prefix = check_prefix(prefix)
        self.retention = None if retention is None else timedelta(seconds=seconds("retention", retention, unit_needed=True))
        self.embedding_dim = embedding_dim
        options = {
            "embedding_dim": embedding_dim,
            "partitions": partitions,
            "pgbouncer": pgbouncer,
            "statement_timeout_s": seconds("statement_timeout", statement_timeout),
        }
        self._location, self.backend = _open(engine_or_url, self.prefix, create_tables, options)
        self.owns_resource = isinstance(engine_or_url, str)
        interval_s = seconds("prune_interval", prune_interval)
        self._pruner = Pruner(self.backend, self.prefix, self.retention, interval_s, prune_batch)
        self._stamp = STAMPS[self.backend.dialect]

    @property
    def url(self) -> str:
        """The database, with any password hidden: for statistics and messages."""
        return self._location.shown

    @property
    def dialect(self) -> Dialect:
        """`sqlite` or `postgresql`."""
        return self.backend.dialect

    def __repr__(self) -> str:
        return f"DatabaseSink({self.url!r}, prefix={self.prefix!r})"

    async def write(self, records: Sequence[Record]) -> None:
        """Store the records in one transaction, leaving out those that are stored already.

        Raises:
            SinkUnavailable: the database cannot take them now; the text says why and what to do.
            RecordsRejected: these records can never be stored; all others have been.
        """
        await self.backend.write(records)
        await self._pruner.after_write()

    async def prune(self, older_than: datetime | timedelta | str | None = None, *, on_progress: Callable[[int], None] | None = None) -> int:
        """Delete calls and events older than that (a duration, a moment; None: the sink's retention), but no linked call.

        Works in transactions of `prune_batch` rows, so that writers hardly wait; `on_progress` hears of each.
        Returns how many calls and events went.

        Raises:
            ValueError: neither `older_than` nor a retention.
            SinkUnavailable: the database cannot be reached.
        """
        return await self._pruner.prune(older_than, on_progress)

    async def aclose(self) -> None:
        """Close what is ours. The sink opens the database again when it is used after that."""
        await self.backend.aclose()

    # -- linking

    async def recent_calls(
        self, *, conversation_key: str | None, user_sub: str | None, ids: Sequence[str] = (), since: datetime | None = None, limit: int = 20
    ) -> list[dict[str, Any]]:
        """Calls of that conversation, of that user, or with those ids (or beginnings of ids), newest first.

        At most `limit` for each of the three; `since` bounds them all. Internal calls are left out.
        """
        bound = None if since is None else self._stamp(since)
        asked = statements.recent_calls(
            self.prefix, conversation_key=conversation_key, user_sub=user_sub, ids=ids, since=bound, limit=limit
        )
        rows = await self.ask(*asked) if limit > 0 else []
        found = {row["id"]: row for row in rows}
        return sorted(found.values(), key=lambda row: (row["started_at"], row["id"]), reverse=True)

    async def read_calls(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """All columns of the calls with these ids, oldest first."""
        rows = await self.ask(*statements.read_calls(self.prefix, ids))
        return sorted(rows, key=lambda row: (row["started_at"], row["id"]))

    async def write_links(self, ref: str, links: Sequence[CallLink]) -> None:
        """Attach these calls to a report, in place of what was attached before."""
        await self.backend.execute(statements.write_links(self.prefix, ref, links, self.dialect, self._stamp))

    async def read_context(self, ref: str) -> list[dict[str, Any]]:
        """The calls attached to a report, in order; `outcome` is None for one that is not stored (yet)."""
        rows = await self.ask(statements.read_context(self.prefix, ref))
        return [{name: row[name] for name in statements.CONTEXT_ORDER} for row in rows]

    async def read_events(self, key: str, kinds: Sequence[str] | None = None, limit: int = 1000) -> list[dict[str, Any]]:
        """The newest `limit` stored events with that key, oldest first, as `EventRecord.to_dict` gives them."""
        events = await self.ask(statements.read_events(self.prefix, key, kinds, limit))
        return [{**event, "occurred_at": event["occurred_at"].isoformat()} for event in reversed(events)]

    async def ask(self, *asked: Statement) -> list[dict[str, Any]]:
        """Rows of statements with `:name` parameters, values by the kinds of the columns' names (aware times, decoded JSON).

        For this package's own questions; no part of the public interface.
        """
        rows = await self.backend.query(asked) if asked else []
        decoded = self.backend.decodes_json
        return [read_row(row, statements.KINDS, json_decoded=decoded) for row in rows]


def _open(engine_or_url: Any, prefix: str, create_tables: bool | None, options: dict[str, Any]) -> tuple[Location, Backend]:
    if isinstance(engine_or_url, str):
        location = locate(engine_or_url)
        if location.dialect == "sqlite":
            from .sqlite_backend import SqliteBackend  # noqa: PLC0415 - loads sqlite3 for those who use it

            return location, SqliteBackend(location, prefix, create_tables=create_tables is not False)
        from .pg_backend import PostgresBackend  # noqa: PLC0415 - loads asyncpg for those who use it

        return location, PostgresBackend(location, prefix, create_tables=create_tables is True, **options)
    if hasattr(engine_or_url, "sync_engine"):
        from .engine_backend import EngineBackend  # noqa: PLC0415 - loads SQLAlchemy for those who use it

        engine = EngineBackend(engine_or_url, prefix, create_tables=create_tables is True, embedding_dim=options["embedding_dim"])
        return engine.location, engine
    raise TypeError(f"DatabaseSink takes a database URL or an AsyncEngine, got {type(engine_or_url).__name__}")
