"""`mount_dashboard`: the pages beside the MCP endpoint of a FastMCP server."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from logging import WARNING
from typing import Any

from ..capture.middleware import CaptureMiddleware
from ..contain import log
from ..store.schema import DEFAULT_PREFIX
from . import TOKEN_ENV_VAR
from .app import Dashboard
from .gates import Ask, AskGate, Gate, ScopeGate, TokenGate
from .source import Source


def mount_dashboard(
    app: Any,
    path: str = "/feedback",
    auth: str | Ask | None = None,
    *,
    database_url: str | None = None,
    instrumentation: Any = None,
    table_prefix: str = DEFAULT_PREFIX,
    scope: str = "feedback:read",
    payload_scope: str = "feedback:payloads",
    payloads: bool = False,
    hosts: Iterable[str] | None = None,
) -> None:
    """Serve the dashboard at a path of a FastMCP server's HTTP app, beside `/mcp`. Call it before `http_app()` or `run()`.

    It is closed to everybody who has no permission: they get 404 at every address below the path. Over stdio there is no HTTP
    server, and so no dashboard.

    Args:
        app: The FastMCP server.
        path: Where it is mounted.
        auth: Who may look. A text: those who know this token (at least 16 characters), as a bearer token or at `path/login`.
            A function `(request) -> bool` (or awaitable): whom it lets in. None: the token in the environment variable
            `FASTMCP_FEEDBACK_DASHBOARD_TOKEN`; without one, holders of an access token of the server's own auth with `scope`;
            for a server without auth, a token is made up and logged.
        database_url: What to read. None: the `DatabaseSink` of the server's recorder, else the default database.
        instrumentation: The recorder, when it is not this server's own.
        table_prefix: Begins the tables' names, as in `DatabaseSink`.
        scope: The scope that lets in, with the server's own auth.
        payload_scope: The scope that shows recorded arguments and results, with the server's own auth.
        payloads: Show arguments and results to everybody who gets in by a token or a function.
        hosts: Names that the server is reached by, such as `dash.example.org`; others get 404. None: any name for those who
            come with a token; with a function, only names of this machine.

    Raises:
        TypeError: `app` is not a FastMCP server, or `auth` is neither text nor function.
        ValueError: a path or token that cannot be used.
        ImportError: Jinja2 is not installed; names the extra.

    >>> from fastmcp import FastMCP
    >>> from fastmcp_feedback import mount_dashboard
    >>> mount_dashboard(FastMCP("studio"), auth="a token that is long enough")
    """
    routes = getattr(app, "_additional_http_routes", None)
    if not isinstance(routes, list):
        raise TypeError(f"mount_dashboard takes a FastMCP server, got {type(app).__name__}")
    root = "/" + path.strip("/")
    if root == "/":
        raise ValueError("path: the dashboard needs a path of its own, such as /feedback")
    gate, invitation = _gate(app, auth, root, scope=scope, payload_scope=payload_scope, payloads=payloads)

    def recorder() -> Any:
        if instrumentation is not None:
            return instrumentation
        return next((one for one in getattr(app, "middleware", ()) if isinstance(one, CaptureMiddleware)), None)

    source = Source(database_url, recorder, table_prefix)
    dashboard = Dashboard(source, gate, hosts=hosts)
    routes.extend(_routes(root, dashboard))
    _close_at_end(app, source)
    if invitation:
        log(WARNING, "%s", invitation)


def _gate(app: Any, auth: str | Ask | None, root: str, *, scope: str, payload_scope: str, payloads: bool) -> tuple[Gate, str]:
    """Who may look, and what to log about it."""
    if auth is None:
        auth = os.environ.get(TOKEN_ENV_VAR, "").strip() or None
    if isinstance(auth, str):
        return TokenGate(auth, payloads=payloads), ""
    if callable(auth):
        return AskGate(auth, payloads=payloads), ""
    if auth is not None:
        raise TypeError(f"auth is a token, a function or None, got {type(auth).__name__}")
    provider = getattr(app, "auth", None)
    if provider is not None:
        if not callable(getattr(provider, "verify_token", None)):
            raise ValueError(f"the server's {type(provider).__name__} cannot verify a token: say who may look with auth=")
        return ScopeGate(scope, provider.verify_token, payload_scope=payload_scope), ""
    token = secrets.token_urlsafe(24)
    return TokenGate(token, payloads=payloads), (
        f"the dashboard at {root}/login was given no auth; until the server ends its token is {token} (set {TOKEN_ENV_VAR} to choose one)"
    )


def _close_at_end(app: Any, source: Source) -> None:
    """Let go of the database when the server ends; it opens again when the server does."""
    original: Callable[[], Any] | None = getattr(app, "_lifespan_manager", None)
    if original is None:
        return

    @asynccontextmanager
    async def managed() -> AsyncIterator[Any]:
        async with original() as value:
            try:
                yield value
            finally:
                await source.aclose()

    app._lifespan_manager = managed  # noqa: SLF001 - as in instrumentation/lifecycle.py


def _routes(root: str, dashboard: Dashboard) -> list[Any]:
    from starlette.routing import Mount, Route  # noqa: PLC0415 - every FastMCP has it

    # Two routes: for the bare path the router would answer with a redirect, which tells that there is something.
    return [Route(root, endpoint=_Bare(root, dashboard), include_in_schema=False), Mount(root, app=dashboard)]


class _Bare:
    """The dashboard at its path without the slash, as if it was mounted there."""

    def __init__(self, root: str, dashboard: Dashboard) -> None:
        self._root = root
        self._dashboard = dashboard

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        root = scope.get("root_path", "") + self._root
        inner = {**scope, "root_path": root, "path": root + "/"}
        await self._dashboard(inner, receive, send)
