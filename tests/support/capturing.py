"""A middleware that asks the adapter, and FastMCP's versions behind one set of names."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from fastmcp import Client, Context, FastMCP
from fastmcp.server.middleware import Middleware

from fastmcp_feedback.capture import adapter
from fastmcp_feedback.capture.identity import default_identity_resolver
from fastmcp_feedback.raw import CallContext

from .versions import IS_V2, IS_V4

_running: ContextVar[Any] = ContextVar("probe_running", default=None)


@dataclass(eq=False)
class Seen:
    """One call as the adapter saw it."""

    tool: str
    arguments: dict[str, Any]
    context: CallContext
    identity: dict[str, Any]
    client: dict[str, str]
    verified_user: str | None
    parent: Seen | None
    own_session_id: str | None
    result: Any = None

    @property
    def key(self) -> str:
        """The conversation key; fails when there is none."""
        assert self.context.conversation_key is not None
        return self.context.conversation_key


@dataclass(eq=False)
class Probe(Middleware):
    """Keeps what the adapter says about every call, by the same rules as the recorder."""

    calls: list[Seen] = field(default_factory=list)

    async def __call__(self, context: Any, call_next: Any) -> Any:
        """Ask before the call, and keep its result."""
        if not adapter.is_tool_call(context):
            return await call_next(context)
        parent = _running.get()
        if parent is not None and adapter.dispatched_by_mount(Probe.__call__.__code__):
            return await call_next(context)
        seen = Seen(
            tool=context.message.name,
            arguments=dict(context.message.arguments or {}),
            context=adapter.call_context(context),
            identity=default_identity_resolver(context),
            client=adapter.client_info(context),
            verified_user=adapter.verified_user(context),
            parent=parent,
            own_session_id=_session_id(context.fastmcp_context),
        )
        self.calls.append(seen)
        token = _running.set(seen)
        try:
            seen.result = await call_next(context)
        finally:
            _running.reset(token)
        return seen.result

    @property
    def names(self) -> list[tuple[str, str | None]]:
        """Tool and parent's tool of every call, in the order in which they began."""
        return [(seen.tool, seen.parent.tool if seen.parent is not None else None) for seen in self.calls]

    @property
    def last(self) -> Seen:
        """The call that began last."""
        return self.calls[-1]


def _session_id(ctx: Any) -> str | None:
    try:
        found: str = ctx.session_id
    except RuntimeError:
        return None
    return found


def mount(parent: FastMCP[Any], child: FastMCP[Any], name: str) -> None:
    """Mount `child` so that its tools are called `name_tool`."""
    options: dict[str, Any] = {"prefix": name} if IS_V2 else {"namespace": name}
    parent.mount(child, **options)


async def call_from_body(ctx: Context, name: str, arguments: dict[str, Any]) -> Any:
    """What a tool does to call another tool of its server."""
    return await _dispatch(ctx.fastmcp, name, arguments)


async def call_directly(app: FastMCP[Any], name: str, arguments: dict[str, Any]) -> Any:
    """A call by the host's own code, without a client."""
    async with Context(app):
        return await _dispatch(app, name, arguments)


async def _dispatch(app: Any, name: str, arguments: dict[str, Any]) -> Any:
    return await (app._call_tool_middleware(name, arguments) if IS_V2 else app.call_tool(name, arguments))


def client(target: Any, *, legacy: bool = False, **options: Any) -> Client[Any]:
    """A client; `legacy` makes FastMCP 4 speak a protocol with sessions, as the versions before always do."""
    if IS_V4 and legacy:
        options["mode"] = "legacy"
    return Client(target, **options)


def proxy_of(app: FastMCP[Any]) -> FastMCP[Any]:
    """A proxy server in front of another server of this process."""
    make: Any = getattr(FastMCP, "as_proxy", None)
    if not IS_V2:
        from fastmcp.server import create_proxy

        make = create_proxy
    found: FastMCP[Any] = make(app)
    return found
