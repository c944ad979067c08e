"""Readers and a recorder on one database at the same time: no page fails, no call is lost."""

from __future__ import annotations

import asyncio
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Final

import pytest
from fastmcp import Client, FastMCP

from fastmcp_feedback import instrument, mount_dashboard
from fastmcp_feedback.instrumentation import DatabaseSink
from support.asgi import Answer, get
from support.waiting import DEADLINE_S

PAGES: Final = ("/", "/calls", "/failures", "/conversations", "/feedback", "/flailing", "/privacy", "/tool?tool=paint", "/index.json")
CALLS: Final = 100
READERS: Final = 4


@pytest.mark.parametrize("kind", ["file", "memory"])
async def test_no_page_fails_and_no_call_is_lost(tmp_path: Path, kind: str) -> None:
    """In the server's own process, where both share one interpreter."""
    app: FastMCP[Any] = FastMCP("workshop")
    recorder = instrument(app, [DatabaseSink(f"sqlite:///{tmp_path}/calls.db" if kind == "file" else "sqlite:///:memory:")], mode="full")

    @app.tool
    def paint(colour: str) -> str:
        if colour.endswith("7"):
            raise ValueError("no such colour")
        return colour

    mount_dashboard(app, auth=lambda _: True)
    asgi = app.http_app()
    done = asyncio.Event()

    async def read(first: int) -> list[Answer]:
        found: list[Answer] = []
        for path in islice(cycle(PAGES), first, None):
            found.append(await get(asgi, f"/feedback{path}"))
            if done.is_set() and len(found) >= len(PAGES):
                return found
        return found

    async with asgi.router.lifespan_context(asgi), Client(app) as client:
        await client.call_tool("paint", {"colour": "first"})
        await recorder.flush(DEADLINE_S)
        readers = [asyncio.create_task(read(number)) for number in range(READERS)]
        for number in range(1, CALLS):
            await client.call_tool("paint", {"colour": f"shade {number}"}, raise_on_error=False)
        done.set()
        answers = [answer for found in await asyncio.gather(*readers) for answer in found]
        await recorder.flush(DEADLINE_S)
        twin = (await get(asgi, "/feedback/index.json")).json()
    await recorder.aclose()

    assert {answer.status for answer in answers} == {200}
    assert len(answers) >= READERS * len(PAGES)
    assert twin["calls"] == CALLS
    assert [(sink["written"], sink["lost"]) for sink in twin["recorder"]["sinks"]] == [(CALLS, 0)]
