"""The proxied servers: one connection for each client session, kept for the length of the session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from fastmcp.client.transports import ClientTransport, StreamableHttpTransport
from fastmcp.server.dependencies import get_context, get_http_headers
from fastmcp.server.providers.proxy import ProxyClient
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ..store.location import hide_password
from .relay import Relay

NO_SESSION = ""


class KeptTransport(ClientTransport):
    """Keeps the session of another transport open between requests; made anew when it has ended or the caller's credentials change."""

    def __init__(self, inner: ClientTransport) -> None:
        self._inner = inner
        self._lock = asyncio.Lock()
        self._holder: asyncio.Task[None] | None = None
        self._leave = asyncio.Event()
        self._session: Any = None
        self._credentials = ""

    @asynccontextmanager
    async def connect_session(self, *, transport_options: Any = None, **session_kwargs: Any) -> AsyncIterator[Any]:
        """The one session, opened by the first request."""
        credentials = get_http_headers(include={"authorization"}).get("authorization", "")
        async with self._lock:
            if self._holder is not None and (self._holder.done() or credentials != self._credentials or _is_dead(self._session)):
                await self.shut()
            holder = self._holder or await self._open(credentials, transport_options=transport_options, **session_kwargs)
            session = self._session
        async with anyio.create_task_group() as watch:
            # FastMCP awaits an answer only as long as this block lives: a connection that breaks has to break it.
            watch.start_soon(self._wait_for, holder)
            yield session
            watch.cancel_scope.cancel()

    @staticmethod
    async def _wait_for(holder: asyncio.Task[None]) -> None:
        await asyncio.wait((holder,))
        raise ConnectionError("the connection to the server ended")

    async def _open(self, credentials: str, **options: Any) -> asyncio.Task[None]:
        opened: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._leave = leave = asyncio.Event()

        async def hold() -> None:
            try:
                async with self._inner.connect_session(**options) as session:
                    if not opened.done():
                        opened.set_result(session)
                    await leave.wait()
            except Exception as exc:  # noqa: BLE001 - it belongs to whoever waits for the session
                if not opened.done():
                    opened.set_exception(exc)

        self._holder, self._credentials = asyncio.create_task(hold()), credentials
        try:
            self._session = await opened
        except BaseException:
            leave.set()
            self._holder = None
            raise
        return self._holder

    async def shut(self) -> None:
        """End the session."""
        holder, self._holder, self._session = self._holder, None, None
        self._leave.set()
        if holder is not None:
            with suppress(asyncio.CancelledError):
                await holder


def _is_dead(session: Any) -> bool:
    # FastMCP's stdio transport looks at the same place; without it a dead session is found by the call that fails.
    return bool(getattr(getattr(session, "_dispatcher", None), "_closed", False))


class Upstream:
    """One proxied server as one client session sees it. `name` is what the operator is told of one that cannot be reached."""

    name = ""

    def __init__(self, transport: ClientTransport, *, over_http: bool, shared: bool) -> None:
        self.relay = Relay(over_http=over_http, shared=shared)
        self._base: ProxyClient[Any] = ProxyClient(transport, **self.relay.handlers())

    def client(self, mode: str | None = None) -> ProxyClient[Any]:
        """A client for one request, in the era of the protocol that the own client speaks unless another mode is named."""
        made = self._base.new()
        made.mode = mode or front_era()
        return made

    @property
    def ended(self) -> bool:
        """Is it gone for good?"""
        return False

    async def close(self) -> None:
        """End the connection."""


class RemoteUpstream(Upstream):
    """A server behind a URL."""

    def __init__(self, url: str, headers: dict[str, str], *, over_http: bool, shared: bool) -> None:
        self.name = hide_password(url)
        remote = StreamableHttpTransport(url, headers=headers)
        self._kept = None if shared else KeptTransport(remote)
        super().__init__(self._kept or remote, over_http=over_http, shared=shared)

    async def close(self) -> None:
        """End the session."""
        if self._kept is not None:
            await self._kept.shut()


def front_era() -> str:
    """The mode for a client that speaks the protocol version of the request that is being served."""
    session = _front_session()
    version = session.protocol_version if session is not None else None
    return version if version in MODERN_PROTOCOL_VERSIONS else "legacy"


def _front_session() -> Any:
    try:
        context = get_context()
    except RuntimeError:
        return None
    return None if context.request_context is None else context.session


class Upstreams:
    """Finds the upstream of the request that is being served: one for each MCP session, one for all that have none.

    Clients over stdio have no session id, and neither has any client of protocol 2026-07-28.

    Args:
        make: Makes an upstream; told whether it is for those without a session.
        on_ended: Hears of one that is gone before it is replaced. None: none is ever replaced.
    """

    def __init__(self, make: Callable[[bool], Upstream], on_ended: Callable[[Upstream], None] | None) -> None:
        self._make = make
        self._on_ended = on_ended
        self._by_session: dict[str, Upstream] = {}

    def current(self) -> Upstream:
        """The upstream of this request, made when it is new, or when its predecessor is gone and may be replaced."""
        connection = getattr(_front_session(), "_connection", None)  # the one object of a session that lasts
        session_id: str = getattr(connection, "session_id", None) or self._named_by_header() or NO_SESSION
        found = self._by_session.get(session_id)
        if found is not None and (self._on_ended is None or not found.ended):
            return found
        if found is not None and self._on_ended is not None:
            self._on_ended(found)
        made = self._by_session[session_id] = self._make(session_id == NO_SESSION)
        if found is None and session_id != NO_SESSION and connection is not None:
            connection.exit_stack.push_async_callback(self._forget, session_id)
        return made

    def _named_by_header(self) -> str | None:
        """For requests that FastMCP answers without a context (ping). A header alone never makes a new upstream."""
        named = get_http_headers(include={"mcp-session-id"}).get("mcp-session-id", "")
        return named if named in self._by_session and _front_session() is None else None

    def client(self) -> Any:
        """A client for the request that is being served: what FastMCP's proxy asks for."""
        return self.current().client()

    async def _forget(self, session_id: str) -> None:
        gone = self._by_session.pop(session_id, None)
        if gone is not None:
            await gone.close()

    async def close(self) -> None:
        """Close all."""
        while self._by_session:
            await self._by_session.popitem()[1].close()
