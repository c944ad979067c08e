"""A server whose tools end in every way that a tool can end. Also a stdio script: `outcome_server.py [RECORDS.jsonl]`."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError

try:  # FastMCP 3 and 4
    from fastmcp.tools.base import ToolResult
except ImportError:  # 2.14
    from fastmcp.tools.tool import ToolResult  # type: ignore[no-redef, import-not-found]  # seen on 2.14 only

from fastmcp.utilities.types import Image

from support.versions import IS_V2, IS_V4

BIG_CHARS = 2_000_000
TIMEOUT_S = 0.2
SLEEP_S = 0.6


class DiskFullError(Exception):
    """An error of the server's own."""


def text_content(text: str) -> Any:
    """A text item of the protocol."""
    if IS_V4:
        from mcp_types import TextContent
    else:
        from mcp.types import TextContent
    return TextContent(type="text", text=text)


def build() -> FastMCP[Any]:  # noqa: C901 - one small tool after the other
    """The server, not yet instrumented."""
    app: FastMCP[Any] = FastMCP("outcomes")

    @app.tool
    async def fine(a: int = 1) -> dict[str, int]:
        return {"a": a}

    @app.tool
    async def raises() -> str:
        raise DiskFullError("disk full")

    @app.tool
    async def raises_from() -> str:
        try:
            raise OSError("no space")  # noqa: TRY301 - the chain is the point
        except OSError as exc:
            raise DiskFullError("disk full") from exc

    @app.tool
    async def own_tool_error() -> str:
        raise ToolError("choose another scene")

    @app.tool
    async def soft() -> dict[str, Any]:
        return {"ok": False, "error": "disk full"}

    @app.tool
    async def big() -> dict[str, str]:
        return {"text": "x" * BIG_CHARS}

    @app.tool
    async def image() -> Image:
        return Image(data=b"not really a picture", format="png")

    @app.tool
    async def mutates(items: Any) -> int:
        items.append("added by the tool")
        return len(items)

    @app.tool
    async def sleeps() -> str:
        await asyncio.sleep(SLEEP_S)
        return "awake"

    @app.tool
    def sleeps_sync() -> str:
        time.sleep(SLEEP_S)
        return "awake"

    if not IS_V2:

        @app.tool
        async def marked() -> ToolResult:
            return ToolResult(content=[text_content("boom")], is_error=True)

        @app.tool(timeout=TIMEOUT_S)
        async def too_slow() -> str:
            await asyncio.sleep(SLEEP_S)
            return "never"

        @app.tool(timeout=TIMEOUT_S)
        def too_slow_sync() -> str:
            time.sleep(SLEEP_S)
            return "late"

        @app.tool
        async def calls_another(ctx: Context) -> str:
            await ctx.fastmcp.call_tool("fine", {"a": 2})
            return "called"

    return app


def build_mounted() -> tuple[FastMCP[Any], FastMCP[Any]]:
    """A parent with a child mounted under `ch`; both are to be instrumented by the same middleware."""
    child: FastMCP[Any] = FastMCP("child")

    @child.tool
    async def deep(a: int) -> int:
        return a

    parent: FastMCP[Any] = FastMCP("parent")
    if IS_V2:
        parent.mount(child, prefix="ch")  # type: ignore[call-arg]  # 2.14's name of it
    else:
        parent.mount(child, namespace="ch")
    return parent, child


if __name__ == "__main__":
    server = build()
    if len(sys.argv) > 1:
        from fastmcp_feedback.instrumentation import JsonLinesSink, instrument

        instrument(server, [JsonLinesSink(path=sys.argv[1])], mode="full")
    server.run(show_banner=False)
