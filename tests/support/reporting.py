"""A server whose tools succeed, fail and hang, with feedback tools: in memory, over stdio (run it as a script), over HTTP."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from fastmcp import Client, FastMCP
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fastmcp_feedback import add_feedback_tools, instrument
from fastmcp_feedback.instrumentation import DatabaseSink, InstrumentationMiddleware, default_identity_resolver
from support.servers import http_server
from support.versions import IS_V4

SCOPE: Final = "feedback:manage"
PEOPLE: Final = {
    "alice": {"client_id": "app", "sub": "alice", "scopes": ["read"]},
    "bob": {"client_id": "app", "sub": "bob", "scopes": ["read"]},
    "boss": {"client_id": "app", "sub": "boss", "scopes": ["read", SCOPE]},
}
BUG: Final = {"type": "bug", "title": "Render hangs", "description": "The preview never comes back."}
OWN: Final = ("running", "let_go", "context")
"""Tools of the test itself: neither recorded nor linked."""
FIVE: Final = (("ping", "ok"), ("boom", "error"), ("ping", "ok"), ("half", "soft_error"), ("slow", "running"))


class Workshop:
    """The server; `url` and the rest are those of `add_feedback_tools`."""

    def __init__(self, sinks: list[Any] | None, url: str | None = None, *, tokens: bool = False, **options: Any) -> None:
        self.began, self.go_on = asyncio.Event(), asyncio.Event()
        self.app: FastMCP[Any] = FastMCP("workshop", auth=StaticTokenVerifier(PEOPLE) if tokens else None)
        self._add_tools()
        self.mw: InstrumentationMiddleware | None = None
        if sinks is not None:
            resolver = default_identity_resolver if tokens else None
            self.mw = instrument(self.app, sinks, mode="full", identity_resolver=resolver, call_reference=True, exclude_tools=OWN)
        self.names = add_feedback_tools(self.app, url, instrumentation=self.mw, **options)

    @property
    def recorder(self) -> InstrumentationMiddleware:
        """The recorder, which is there."""
        assert self.mw is not None
        return self.mw

    def _add_tools(self) -> None:
        @self.app.tool
        async def ping(api_key: str = "") -> str:
            return "pong"

        @self.app.tool
        async def boom() -> str:
            raise ValueError("disk full")

        @self.app.tool
        async def half() -> dict[str, str]:
            return {"status": "failed", "error": "half of it"}

        @self.app.tool
        async def slow() -> str:
            self.began.set()
            await self.go_on.wait()
            return "done"

        @self.app.tool
        async def let_go() -> str:
            self.go_on.set()
            return "went on"

        @self.app.tool
        async def running() -> int:
            return sum(row["tool"] == "slow" for row in self.recorder.running_calls())

        @self.app.tool
        async def context(ref: str) -> list[dict[str, Any]]:
            found = await self.recorder.feedback_context(ref)
            return [{name: row[name] for name in ("tool", "outcome", "rule", "position", "user_sub")} for row in found]

    async def aclose(self) -> None:
        """Let everything end."""
        self.go_on.set()
        if self.mw is not None:
            await self.mw.aclose()


@asynccontextmanager
async def in_memory(workshop: Workshop) -> AsyncIterator[Client[Any]]:
    """A client in this process."""
    try:
        async with Client(workshop.app) as client:
            yield client
            workshop.go_on.set()
    finally:
        await workshop.aclose()


@asynccontextmanager
async def over_http(workshop: Workshop, *, stateless: bool = False) -> AsyncIterator[str]:
    """The URL of the server."""
    try:
        async with http_server(workshop.app, stateless=stateless) as url:
            yield url
            workshop.go_on.set()
    finally:
        await workshop.aclose()


def client_of(url: str, who: str | None = None, *, legacy: bool = False) -> Client[Any]:
    """A client over HTTP, with the token of one of `PEOPLE`; `legacy` has sessions on FastMCP 4 too."""
    headers = {"Authorization": f"Bearer {who}"} if who is not None else {}
    mode: dict[str, Any] = {"mode": "legacy"} if legacy and IS_V4 else {}
    return Client(StreamableHttpTransport(url, headers=headers), **mode)


async def call(client: Client[Any], name: str, /, **args: Any) -> Any:
    """The structured answer of a tool that succeeds."""
    answer = await client.call_tool(name, args)
    assert answer.structured_content is not None
    return answer.structured_content


async def refusal(client: Client[Any], name: str, /, **args: Any) -> str:
    """What a tool says that refuses."""
    answer = await client.call_tool(name, args, raise_on_error=False)
    assert answer.is_error, answer
    text: str = getattr(answer.content[0], "text", "")
    return text


async def five_calls(client: Client[Any]) -> asyncio.Task[Any]:
    """Two that succeed, two that fail, one that runs: see `FIVE`. The task of the running one."""
    await client.call_tool("ping", {})
    await client.call_tool("boom", {}, raise_on_error=False)
    await client.call_tool("ping", {})
    await client.call_tool("half", {})
    before = (await call(client, "running"))["result"]
    slow = asyncio.create_task(client.call_tool("slow", {}))

    async def seen() -> int:
        return int((await call(client, "running"))["result"])

    while await seen() <= before and not slow.done():  # noqa: ASYNC110 - the server is asked, which takes its time
        await asyncio.sleep(0)
    return slow


if __name__ == "__main__":
    workshop = Workshop([DatabaseSink(f"sqlite:///{os.environ['REPORTS']}")])
    workshop.app.run(show_banner=False)
