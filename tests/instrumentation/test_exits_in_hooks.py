"""Hooks and sinks that try to end the process or their task: recording goes on, and the client sees nothing of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from fastmcp import Client, FastMCP

from fastmcp_feedback.instrumentation import MemorySink, instrument
from fastmcp_feedback.sink import Record
from support.studio import call

Contained = list[tuple[str, BaseException]]


class OwnExit(BaseException):
    """Not an `Exception`."""


def server() -> FastMCP[Any]:
    """One tool."""
    app: FastMCP[Any] = FastMCP("studio")

    @app.tool
    async def ping() -> str:
        return "pong"

    return app


@pytest.mark.parametrize("error", [OwnExit, SystemExit, asyncio.CancelledError])
@pytest.mark.parametrize("hook", ["result_classifier", "identity_resolver", "enricher", "random"])
async def test_a_hook_that_exits_costs_at_most_its_own_call(hook: str, error: type[BaseException], contained: Contained) -> None:
    """The calls after it are recorded as ever."""
    first = [True]

    def exits_once(*_args: Any) -> Any:
        if first:
            first.clear()
            raise error
        return 0.0 if hook == "random" else None

    app, sink = server(), MemorySink()
    mw = instrument(app, [sink], **{hook: exits_once}, sample_rates={"ping": 1.0})
    async with Client(app) as client:
        for _ in range(4):
            assert (await call(client, "ping")).content[0].text == "pong"
        assert await mw.flush()
    assert len(sink.calls) >= 3
    assert contained
    await mw.aclose()


async def test_a_sink_that_exits_is_a_failing_sink(contained: Contained) -> None:
    """`SystemExit` in a sink on the server's loop is tried again like any failure."""
    got: list[Record] = []

    class Exits:
        async def write(self, records: Sequence[Record]) -> None:
            if not contained:
                raise SystemExit(3)
            got.extend(records)

    app = server()
    mw = instrument(app, [Exits()])
    async with Client(app) as client:
        await call(client, "ping")
        assert await mw.flush()
    assert len(got) == 1
    await mw.aclose()
