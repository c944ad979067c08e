"""The first words of a client over stdio: they decide which era of the protocol the connection speaks.

The SDK serves either era and takes the client's first request for its choice. A proxy must not let a client choose the
era of 2026-07-28 when the upstream knows only the handshake: such a client first asks `server/discover`, and turns to the
handshake when that is refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Self

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import METHOD_NOT_FOUND, ErrorData, JSONRPCError, JSONRPCRequest
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ..contain import contain
from .upstream import Upstream

if TYPE_CHECKING:
    from fastmcp import FastMCP


class Opening:
    """A client's messages, without a `server/discover` that the upstream would refuse."""

    def __init__(self, messages: Any, answers: Any, knows_discover: Callable[[], Awaitable[bool]]) -> None:
        self._messages = messages
        self._answers = answers
        self._knows_discover = knows_discover
        self._decided = False

    async def receive(self) -> Any:
        """The next message."""
        while True:
            item = await self._messages.receive()
            if self._decided or not await self._refused(item):
                return item

    async def _refused(self, item: Any) -> bool:
        message = item.message if isinstance(item, SessionMessage) else None
        if not isinstance(message, JSONRPCRequest):
            return False
        if message.method != "server/discover" or await self._knows_discover():
            self._decided = True
            return False
        error = ErrorData(code=METHOD_NOT_FOUND, message="Method not found")
        await self._answers.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=message.id, error=error)))
        return True

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """No more messages are wanted."""
        await self._messages.aclose()

    def close(self) -> None:
        """The same for plain code."""
        self._messages.close()


async def knows_discover(upstream: Upstream) -> bool:
    """Does the upstream speak protocol 2026-07-28? True when it does not answer at all: then the client shall hear that."""
    client = upstream.client("auto")
    with contain("asking the proxied server for its protocol"):
        async with client:
            return client.protocol_version in MODERN_PROTOCOL_VERSIONS
    return True


def follow_upstream(server: FastMCP[Any], upstream: Upstream) -> None:
    """Let the upstream decide which era the connection of a stdio server speaks."""
    inner: Any = server._mcp_server  # noqa: SLF001 - FastMCP has no public place between its transport and the protocol
    run = inner.run

    async def run_as_upstream(messages: Any, answers: Any, *args: Any, **options: Any) -> None:
        await run(Opening(messages, answers, lambda: knows_discover(upstream)), answers, *args, **options)

    inner.run = run_as_upstream
