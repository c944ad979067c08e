"""The same pages over PostgreSQL: by its URL, and through the sink of a running recorder."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
import pytest_asyncio

from fastmcp_feedback.store import DatabaseSink
from fastmcp_feedback.web.app import Dashboard
from fastmcp_feedback.web.gates import OpenGate
from fastmcp_feedback.web.source import Source
from support.asgi import get, send
from support.busy_studio import fill
from support.databases import drop_postgres_database, new_postgres_database, postgres_url

__all__ = ["postgres_url"]

pytestmark = pytest.mark.postgres
REPORT = "/feedback/fb-7k3m9qx2rt50"


@pytest.fixture
def url(postgres_url: str) -> Iterator[str]:
    """A fresh database on the server."""
    made = new_postgres_database(postgres_url)
    yield made
    drop_postgres_database(postgres_url, made)


@pytest_asyncio.fixture(params=["by its URL", "through the recorder"])
async def on_postgres(request: pytest.FixtureRequest, url: str) -> AsyncIterator[Dashboard]:
    """A dashboard over a busy server's calls."""
    await fill(url, datetime.now(UTC), calls=400)
    sink = DatabaseSink(url)

    async def clean(texts: list[str | None], _: Any) -> list[str | None]:
        return texts

    beside = SimpleNamespace(sinks=[sink], mode="full", stats=_books, clean_report=clean)
    source = Source(url) if request.param == "by its URL" else Source(None, lambda: beside)
    yield Dashboard(source, OpenGate(payloads=True))
    await source.aclose()
    await sink.aclose()


def _books() -> dict[str, Any]:
    return {"sinks": {}, "mode": "full", "running_calls": 0, "contained_errors": {}, "spool": None}


async def test_every_page_is_made_and_a_status_is_changed(on_postgres: Dashboard) -> None:
    """With everything that SQLite's pages show; lists go on from page to page."""
    failed = (await get(on_postgres, "/calls.json?outcome=failed&tool=update_scene&since=")).json()["calls"][0]
    failure = (await get(on_postgres, "/failures.json?since=")).json()["failures"][0]
    calls = (await get(on_postgres, "/calls.json?since=")).json()
    places = [
        *("/?since=", "/calls?since=", "/failures?since=", "/conversations?since=", "/feedback?text=frame", "/flailing?since=", "/privacy"),
        f"/calls/{failed['id']}", f"/conversation?conversation={failed['conversation']}", REPORT, "/tool?tool=update_scene&since=",
        f"/failure?fingerprint={failure['fingerprint']}&since=", calls["next"],
    ]  # fmt: skip
    for place in places:
        page = await get(on_postgres, place)
        assert (page.status, "</html>" in page.text) == (200, True), place
    found = re.search(r'name="csrf" value="(\w+)"', (await get(on_postgres, REPORT)).text)
    assert found is not None
    changed = await send(on_postgres, "POST", REPORT, form={"csrf": found[1], "status": "resolved", "note": "Done."})
    report = (await get(on_postgres, f"{REPORT}.json")).json()

    assert changed.status == 303
    assert (report["report"]["status"], report["notes"][-1]["note"]) == ("resolved", "Done.")
    assert report["calls"]


async def test_a_database_that_is_missing_gives_a_page_that_says_so(url: str) -> None:
    """A database that does not exist: named, and no 500."""
    source = Source(url.replace("?", "_missing?", 1))
    answer = await get(Dashboard(source, OpenGate()), "/")
    await source.aclose()

    assert answer.status == 503
    assert "_missing" in answer.text


async def test_a_server_without_our_tables_says_what_to_do(url: str) -> None:
    """By its URL and through a recorder that may not make them."""
    sink = DatabaseSink(url)
    for source in (Source(url), Source(None, lambda: SimpleNamespace(sinks=[sink]))):
        answer = await get(Dashboard(source, OpenGate()), "/")
        await source.aclose()
        assert answer.status == 503
        assert "holds no recorded calls" in answer.text
    await sink.aclose()
