"""The way back: what the proxied server asks or tells its client while it serves.

The connection to the server outlives single requests, so FastMCP's own forwarding, which remembers the request that
opened the connection, would lose the client after that. Here every request that is being served is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mcp_types
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

_CHANGES = (
    mcp_types.ToolListChangedNotification,
    mcp_types.ResourceListChangedNotification,
    mcp_types.PromptListChangedNotification,
)


class Relay:
    """Hands questions and messages of one server to its client.

    Args:
        over_http: The client is reached through the answer to a running request, not through one pipe for all.
        shared: Several clients use this server, so that a message whose request is not certain is nobody's.
    """

    def __init__(self, *, over_http: bool, shared: bool) -> None:
        self._over_http = over_http
        self._shared = shared
        self._running: dict[object, tuple[Any, Any]] = {}
        self._last: Any = None

    @contextmanager
    def serving(self, session: Any, request_id: Any) -> Iterator[None]:
        """A request is being served for the length of the block."""
        token = object()
        self._running[token] = (session, request_id)
        self._last = session
        try:
            yield
        finally:
            del self._running[token]

    def handlers(self) -> dict[str, Any]:
        """Arguments for a client of the server."""
        return {
            "roots": self._roots,
            "sampling_handler": self._sample,
            "elicitation_handler": self._elicit,
            "log_handler": self._log,
            "message_handler": self._message,
        }

    def _way(self) -> tuple[Any, Any]:
        """The session to speak through, and the request that it is about; `(None, None)` when there is no certain one."""
        if self._running and not (self._shared and len(self._running) > 1):
            session, request_id = self._running[next(reversed(self._running))]
            own_stream = self._over_http or session.protocol_version in MODERN_PROTOCOL_VERSIONS
            return session, request_id if own_stream else None
        return (None if self._shared else self._last), None

    async def _ask(self, request: Any, answer: type[Any]) -> Any:
        session, request_id = self._way()
        if session is None:
            raise RuntimeError("no client can be asked")
        metadata = None if request_id is None else ServerMessageMetadata(related_request_id=request_id)
        return await session.send_request(request, answer, metadata=metadata)

    async def _roots(self, _context: Any) -> Any:
        return (await self._ask(mcp_types.ListRootsRequest(), mcp_types.ListRootsResult)).roots

    async def _sample(self, _messages: Any, params: Any, _context: Any) -> Any:
        answer = mcp_types.CreateMessageResultWithTools if params.tools else mcp_types.CreateMessageResult
        return await self._ask(mcp_types.CreateMessageRequest(params=params), answer)

    async def _elicit(self, _message: str, _response_type: Any, params: Any, _context: Any) -> Any:
        return await self._ask(mcp_types.ElicitRequest(params=params), mcp_types.ElicitResult)

    async def _log(self, params: Any) -> None:
        await self._tell(mcp_types.LoggingMessageNotification(params=params))

    async def _message(self, message: Any) -> None:
        if isinstance(message, _CHANGES):
            await self._tell(message)

    async def _tell(self, notification: Any) -> None:
        session, request_id = self._way()
        if session is not None:
            await session.send_notification(notification, request_id)
