"""A small server, and a way to record it for the length of a test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastmcp import Client, FastMCP

from fastmcp_feedback.instrumentation import InstrumentationMiddleware, MemorySink, instrument


def studio() -> FastMCP[Any]:
    """A small server."""
    app: FastMCP[Any] = FastMCP("studio")

    @app.tool
    async def render(scene: str, api_key: str = "") -> dict[str, str]:
        return {"status": "failed", "error": "out of memory"} if scene == "big" else {"status": "done"}

    @app.tool
    async def boom(text: str = "bad") -> str:
        raise ValueError(text)

    @app.tool
    async def ping() -> str:
        return "pong"

    return app


@asynccontextmanager
async def recording(
    app: FastMCP[Any] | None = None, **options: Any
) -> AsyncIterator[tuple[Client[Any], MemorySink, InstrumentationMiddleware]]:
    """A client of an instrumented server, its sink and its middleware; closed afterwards."""
    server = app or studio()
    sink = MemorySink()
    mw = instrument(server, [sink], **options)
    try:
        async with Client(server) as client:
            yield client, sink, mw
    finally:
        await mw.aclose()


async def call(client: Client[Any], tool: str, **args: Any) -> Any:
    """A call whose failure does not matter to the test."""
    return await client.call_tool(tool, args, raise_on_error=False)
