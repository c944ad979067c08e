"""Workers that share a database find each other's calls, links and events."""

from __future__ import annotations

from typing import Any

import pytest
from fastmcp import Client, FastMCP

from fastmcp_feedback.instrumentation import InstrumentationMiddleware
from fastmcp_feedback.store import DatabaseSink
from support.databases import Database


async def who(_: Any) -> dict[str, Any]:
    """Everybody is Ann."""
    return {"user_sub": "ann"}


def worker(sink: DatabaseSink) -> tuple[FastMCP, InstrumentationMiddleware]:
    """A server process as far as the recorder can tell."""
    app: FastMCP = FastMCP("worker")
    recorder = InstrumentationMiddleware([sink], identity_resolver=who, flush_interval=0.01)
    app.add_middleware(recorder)

    @app.tool
    def render(scene: str) -> str:
        if scene == "big":
            raise ValueError("out of memory")
        recorder.record_event("step", key="job-1", attrs={"scene": scene})
        return scene

    @app.tool
    async def report() -> list[str]:
        links = await recorder.capture_recent_calls()
        assert await recorder.link_feedback("report-1", links)
        return [found.call_id for found in links]

    return app, recorder


async def test_a_report_to_one_worker_is_linked_to_another_worker_s_calls(database: Database) -> None:
    """Calls of one conversation are found wherever they were answered, in order and with what became of them."""
    if not database.shared:
        pytest.skip("a database in memory has one sink")
    (first, one), (second, two) = worker(database.sink()), worker(database.sink())
    async with Client(first) as client:
        await client.call_tool("render", {"scene": "small"})
        await client.call_tool("render", {"scene": "big"}, raise_on_error=False)
    assert await one.flush()

    async with Client(second) as client:
        linked = (await client.call_tool("report")).data
    assert await two.flush()
    context = await one.feedback_context("report-1")
    events = await two.events_for("job-1")

    assert [row["call_id"] for row in context] == linked
    assert [(row["tool"], row["outcome"], row["error_type"], row["rule"]) for row in context] == [
        ("render", "ok", None, "session"),
        ("render", "error", "ValueError", "session"),
    ]
    assert [(event["call_id"], event["attrs"]) for event in events] == [(linked[0], {"scene": "small"})]
    for recorder in (one, two):
        await recorder.aclose()
