"""MCP by hand over HTTP, for requests that no client would send."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any, Final

from .versions import IS_V4

# FastMCP 4 brings httpx's successor instead of httpx.
httpx: Any = import_module("httpx2" if IS_V4 else "httpx")

PROTOCOL: Final = "2025-06-18"
HEADERS: Final = {"accept": "application/json, text/event-stream", "mcp-protocol-version": PROTOCOL}
INITIALIZE: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"}},
}
INITIALIZED: Final = {"jsonrpc": "2.0", "method": "notifications/initialized"}

Post = Callable[[dict[str, Any]], Coroutine[Any, Any, tuple[int, str]]]


@asynccontextmanager
async def posting(url: str) -> AsyncIterator[Post]:
    """Open a session by hand; gives a function that posts a message in it and returns status and body."""
    async with httpx.AsyncClient(headers=HEADERS, timeout=20) as http:
        opened = await http.post(url, json=INITIALIZE)
        http.headers["mcp-session-id"] = opened.headers["mcp-session-id"]
        await http.post(url, json=INITIALIZED)

        async def post(message: dict[str, Any]) -> tuple[int, str]:
            answer = await http.post(url, json=message)
            return answer.status_code, answer.text

        yield post


async def post_once(url: str, message: dict[str, Any], headers: dict[str, str]) -> int:
    """Post one message with these headers; gives the status."""
    async with httpx.AsyncClient(headers={**HEADERS, **headers}, timeout=20) as http:
        answer = await http.post(url, json=message)
        status: int = answer.status_code
        return status
