"""What FastMCP's proxy would change on its way, passed as it is: unknown tools, titles, protocol errors, capabilities."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import mcp_types
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.providers.proxy import ProxyPrompt, ProxyProvider, ProxyResource, ProxyTemplate, ProxyTool
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, METHOD_NOT_FOUND, SERVER_INFO_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from .telling import tell
from .upstream import Upstream, Upstreams

_CAPABILITIES = ("tools", "resources", "prompts", "logging")


class _OwnMeta:
    """A component whose `_meta` is the upstream's, without FastMCP's additions."""

    meta: dict[str, Any] | None

    def get_meta(self) -> Any:
        """The upstream's, None when it gave none."""
        return self.meta


class PassedTool(_OwnMeta, ProxyTool):
    """A tool of the upstream, listed as the upstream lists it."""

    def to_mcp_tool(self, **overrides: Any) -> Any:
        """Without the title that FastMCP makes up for a tool that has none."""
        return super().to_mcp_tool(**{"title": self.title, **overrides})


class PassedResource(_OwnMeta, ProxyResource):
    """A resource of the upstream."""


class PassedTemplate(_OwnMeta, ProxyTemplate):
    """A resource template of the upstream."""


class PassedPrompt(_OwnMeta, ProxyPrompt):
    """A prompt of the upstream."""


def _passed(components: Any, kind: type[Any]) -> Any:
    # FastMCP's provider makes components of its own classes; ours differ only in what they say of themselves.
    for component in components:
        component.__class__ = kind
    return components


class PassingProvider(ProxyProvider):
    """The upstream's tools, resources and prompts. A tool that it does not list is called all the same: it knows best."""

    def __init__(self, upstreams: Upstreams) -> None:
        super().__init__(upstreams.client, identity="upstream")

    async def _list_tools(self) -> Any:
        return _passed(await super()._list_tools(), PassedTool)

    async def _list_resources(self) -> Any:
        return _passed(await super()._list_resources(), PassedResource)

    async def _list_resource_templates(self) -> Any:
        return _passed(await super()._list_resource_templates(), PassedTemplate)

    async def _list_prompts(self) -> Any:
        return _passed(await super()._list_prompts(), PassedPrompt)

    async def _get_tool(self, name: str, version: Any = None) -> Any:
        listed = await super()._get_tool(name, version)  # its schema says which arguments travel as headers
        unlisted = mcp_types.Tool(name=name, input_schema={"type": "object"})
        return listed or PassedTool.from_mcp_tool(self.client_factory, unlisted, identity="upstream")


@asynccontextmanager
async def reached(upstream: Upstream, mode: str | None = None) -> AsyncIterator[Any]:
    """A client that is connected to the upstream for a block.

    Raises:
        MCPError: it cannot be reached, which the operator hears, too.
    """
    client: Any = upstream.client(mode)
    trouble: Exception | None = None
    try:
        await client.__aenter__()
    except Exception as exc:  # noqa: BLE001 - whatever it is, the client gets an error of the protocol
        trouble = exc
    if trouble is not None:
        if upstream.name:
            tell(f"{upstream.name} cannot be reached: {describe_cause(trouble)}")
        if isinstance(trouble, MCPError):
            raise trouble
        raise MCPError(INTERNAL_ERROR, f"the proxied server cannot be reached: {describe_cause(trouble)}") from trouble
    try:
        yield client
    finally:
        await client.__aexit__(None, None, None)


def describe_cause(exc: BaseException) -> str:
    """The innermost reason, on one line."""
    while exc.__cause__ is not None:
        exc = exc.__cause__
    return " ".join(str(exc).split())[:300] or type(exc).__name__


class Passing(Middleware):
    """The outermost layer: ties requests to their upstream and lets answers through as the upstream gave them."""

    def __init__(self, upstreams: Upstreams) -> None:
        self._upstreams = upstreams
        self._info: dict[str, str] = {}

    async def on_request(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Serve a request, known to the relay."""
        front = context.fastmcp_context
        if front is None or front.request_context is None:
            return await call_next(context)
        upstream = self._upstreams.current()
        with upstream.relay.serving(front.session, front.request_context.request_id):
            if context.method == "logging/setLevel":
                await self._set_level(context.message)
            return await call_next(context)

    async def _set_level(self, message: Any) -> None:
        level = message["params"]["level"] if isinstance(message, dict) else getattr(message, "level", None) or message.params.level
        client = self._upstreams.client()
        async with client:
            await client.set_logging_level(level)

    async def on_initialize(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """The handshake: the upstream's name and no more capabilities than it has."""
        async with reached(self._upstreams.current()) as client:  # first, so that a client hears when there is none
            capabilities = client.server_capabilities
        return self._as_upstream(await call_next(context), capabilities)

    async def on_discover(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """The same in protocol 2026-07-28. For an upstream that knows only the handshake the client has to use it, too.

        Raises:
            MCPError: method not found, which tells the client to do so.
        """
        async with reached(self._upstreams.current(), "auto") as client:
            if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
                raise MCPError(METHOD_NOT_FOUND, "Method not found")
            capabilities = client.server_capabilities
        return self._as_upstream(await call_next(context), capabilities)

    def _as_upstream(self, result: Any, theirs: Any) -> Any:
        self._info = _server_info(result)
        ours = getattr(result, "capabilities", None)
        if ours is None or theirs is None:
            return result
        update = {name: _common(getattr(ours, name), getattr(theirs, name)) for name in _CAPABILITIES}
        return result.model_copy(update={"capabilities": ours.model_copy(update=update)})

    async def on_call_tool(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:
        """Call a tool; an error of the protocol stays one."""
        try:
            return await call_next(context)
        except ToolError as exc:
            if isinstance(exc.__cause__, MCPError):
                raise exc.__cause__ from None
            raise

    def describe_server(self, _tool: str, _args: Any, _result: Any, _context: Any) -> dict[str, str]:
        """An enricher: the upstream's name, and its version for the column of that name."""
        return self._info


def _common(ours: Any, theirs: Any) -> Any:
    """A capability that both have, with the details that both have."""
    if ours is None or theirs is None:
        return None
    details = {name: value and getattr(theirs, name, None) for name, value in ours if isinstance(value, bool)}
    return ours.model_copy(update=details)


def _server_info(result: Any) -> dict[str, str]:
    info = getattr(result, "server_info", None) or (getattr(result, "meta", None) or {}).get(SERVER_INFO_META_KEY)
    found = {}
    for key, name in (("server", "name"), ("server_version", "version")):
        value = info.get(name) if isinstance(info, dict) else getattr(info, name, None)
        if isinstance(value, str) and value:
            found[key] = value
    return found
