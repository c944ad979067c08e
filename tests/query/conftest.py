"""Fixtures of the questions' tests: a database of each kind, filled, and opened for reading."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from fastmcp_feedback.query.reader import Reader, open_reader
from fastmcp_feedback.sink import Record
from fastmcp_feedback.store import DatabaseSink
from support.databases import POSTGRES, drop_postgres_database, new_postgres_database, postgres_url

__all__ = ["postgres_url"]

Recorded = Callable[[Sequence[Record]], Awaitable[Reader]]


@pytest.fixture(params=["sqlite", POSTGRES])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a fresh database of each kind in turn."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/calls.db"
        return
    server = request.getfixturevalue("postgres_url")
    made = new_postgres_database(server)
    yield made
    drop_postgres_database(server, made)


@pytest_asyncio.fixture
async def recorded(url: str) -> AsyncIterator[Recorded]:
    """A function that stores records and gives a reader of the database."""
    async with AsyncExitStack() as stack:

        async def fill(records: Sequence[Record]) -> Reader:
            sink = DatabaseSink(url, create_tables=True)
            await sink.write(records)
            await sink.aclose()
            return await stack.enter_async_context(open_reader(url))

        yield fill
