"""The connections of one PostgreSQL store: one for writing, a few for questions. They belong to one event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

from ..contain import contain
from .location import Location
from .pg_errors import is_lost

T = TypeVar("T")

CONNECT_TIMEOUT_S: Final = 5.0
READERS: Final = 3
_APPLICATION: Final = "fastmcp-feedback"

# Connections that a fork made unusable; letting them be collected would only raise warnings.
_inherited: list[Any] = []


def import_driver() -> Any:
    """The module asyncpg.

    Raises:
        ImportError: it is not installed; names the package and the extra.
    """
    try:
        import asyncpg  # noqa: PLC0415 - an extra, loaded by those who use PostgreSQL
    except ImportError as exc:
        raise ImportError("PostgreSQL needs the package asyncpg: pip install 'fastmcp-feedback[postgres]'") from exc
    return asyncpg


class Connections:
    """Opens connections when they are needed, and new ones when the server has dropped the old."""

    def __init__(self, location: Location, statement_timeout_s: float, *, pgbouncer: bool) -> None:
        self._driver = import_driver()
        self._location = location
        self._statement_timeout_s = statement_timeout_s
        options = location.options
        self._transaction_pooling = pgbouncer or "0" in (options.get("prepared_statement_cache_size"), options.get("statement_cache_size"))
        self.errors: Final[tuple[type[Exception], ...]] = (
            self._driver.PostgresError,
            self._driver.InterfaceError,
            self._driver.InternalClientError,  # a connection that broke while a statement was being sent
        )
        self.unreachable: Final[tuple[type[Exception], ...]] = (OSError, TimeoutError, *self.errors)
        self._pid = os.getpid()
        self.forget()

    def forget(self) -> None:
        """Forget all connections: their loop has gone (a fork, a close)."""
        if self._pid != os.getpid():
            _inherited.extend((self._writer, self._idle))
        self._pid = os.getpid()
        self._writer: Any = None
        self._idle: list[Any] = []
        self._readers = asyncio.Semaphore(READERS)

    async def connect(self) -> Any:
        """A new connection."""
        settings = {"application_name": _APPLICATION}
        if not self._transaction_pooling:  # PgBouncer refuses what it does not know
            settings["statement_timeout"] = str(int(self._statement_timeout_s * 1000))
        return await self._driver.connect(
            self._location.dsn,
            timeout=CONNECT_TIMEOUT_S,
            command_timeout=self._statement_timeout_s + 1,
            statement_cache_size=0 if self._transaction_pooling else 100,
            server_settings=settings,
        )

    async def with_writer(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """Run on the writing connection; once more on a new one when it turns out to be gone."""
        return await self._twice(self._on_writer, work)

    async def with_reader(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """Run on one of the other connections; once more on a new one when it turns out to be gone."""
        return await self._twice(self._on_reader, work)

    async def _twice(self, run: Callable[[Callable[[Any], Awaitable[T]]], Awaitable[T]], work: Callable[[Any], Awaitable[T]]) -> T:
        try:
            return await run(work)
        except self.unreachable as exc:
            if not is_lost(exc):
                raise
            self._drop_idle()
        return await run(work)

    async def _on_writer(self, work: Callable[[Any], Awaitable[T]]) -> T:
        if self._writer is None or self._writer.is_closed():
            self._writer = await self.connect()
        try:
            return await work(self._writer)
        except BaseException as exc:
            if not self._still_good(exc):
                self._drop(self._writer)
                self._writer = None
            raise

    async def _on_reader(self, work: Callable[[Any], Awaitable[T]]) -> T:
        async with self._reader() as con:
            return await work(con)

    @asynccontextmanager
    async def _reader(self) -> AsyncIterator[Any]:
        """An idle connection or a new one; kept afterwards if it is still good."""
        async with self._readers:
            con = self._idle.pop() if self._idle else None
            if con is None or con.is_closed():
                con = await self.connect()
            try:
                yield con
            except BaseException as exc:
                if self._still_good(exc):
                    self._idle.append(con)
                else:
                    self._drop(con)
                raise
            self._idle.append(con)

    def _still_good(self, exc: BaseException) -> bool:
        """An error of a statement leaves its connection usable; a lost one, a timeout or a cancellation may not."""
        return isinstance(exc, self.errors) and not is_lost(exc)

    def _drop_idle(self) -> None:
        """When one connection has gone, its neighbours have most likely too."""
        while self._idle:
            self._drop(self._idle.pop())

    def _drop(self, con: Any) -> None:
        with contain("closing a lost connection"):
            con.terminate()

    async def close(self) -> None:
        """Close all, politely."""
        for con in (self._writer, *self._idle):
            if con is not None and not con.is_closed():
                with contain("closing a database connection"):
                    await con.close(timeout=CONNECT_TIMEOUT_S)
        self.forget()
