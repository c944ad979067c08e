"""A dashboard over two made-up weeks of a busy server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio

from fastmcp_feedback.web.app import Dashboard
from fastmcp_feedback.web.gates import OpenGate
from fastmcp_feedback.web.source import Source
from support.busy_studio import fill

__all__: list[str] = []


@pytest.fixture(scope="session")
def studio_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A filled database that tests only read."""
    url = f"sqlite:///{tmp_path_factory.mktemp('studio')}/calls.db"
    asyncio.run(fill(url, datetime.now(UTC), calls=600))
    return url


@pytest_asyncio.fixture
async def dashboard(studio_url: str) -> AsyncIterator[Dashboard]:
    """Open to everybody on this machine, payloads shown."""
    source = Source(studio_url)
    yield Dashboard(source, OpenGate(payloads=True))
    await source.aclose()


@pytest_asyncio.fixture
async def own_dashboard(tmp_path: Path) -> AsyncIterator[Dashboard]:
    """The same over a database of the test's own, to change."""
    url = f"sqlite:///{tmp_path}/calls.db"
    await fill(url, datetime.now(UTC), calls=200)
    source = Source(url)
    yield Dashboard(source, OpenGate())
    await source.aclose()
