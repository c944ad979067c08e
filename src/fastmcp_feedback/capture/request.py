"""Reads FastMCP's request objects: the same questions for 2.14, 3.x and 4.x.

Private names of FastMCP and the MCP SDK are looked up once, here; a version without one degrades to "not known".
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from importlib import import_module
from typing import Any, Final

MODERN_PROTOCOL: Final = "2026-07-28"  # from this version on there are no sessions, and `_meta` names the client
MAX_TEXT_CHARS: Final = 255
HTTP_TRANSPORTS: Final = frozenset({"sse", "streamable-http"})


def _context_var(module: str, name: str) -> ContextVar[Any] | None:
    """A context variable of FastMCP's, or None in a version without it."""
    try:
        found = getattr(import_module(module), name, None)
    except ImportError:
        return None
    return found if isinstance(found, ContextVar) else None


_http_request: Final = _context_var("fastmcp.server.http", "_current_http_request")
_transport: Final = _context_var("fastmcp.server.context", "_current_transport")
_task_session: Final = _context_var("fastmcp.server.dependencies", "_background_task_session_id")
# FastMCP 4 runs every request in the context of its sender. Before, an in-memory session keeps the context of whoever
# opened it, so what its context variables say about the caller may be about somebody else.
_REQUESTS_CARRY_CONTEXT: Final = _context_var("fastmcp.server.dependencies", "fastmcp_request_ctx") is not None
_auth_user: Final = _context_var("mcp.server.auth.middleware.auth_context", "auth_context_var")


def bounded(value: Any) -> str | None:
    """Text that a client chose, at most 255 characters; None for None."""
    if value is None:
        return None
    return (value if isinstance(value, str) else str(value))[:MAX_TEXT_CHARS]


def header(request: Any, name: bytes) -> str | None:
    """One header of an HTTP request by its lower-case name; no other header is read."""
    for key, value in request.scope["headers"]:
        if key == name:
            text: str = value.decode("latin-1")
            return text
    return None


def meta_of(request_context: Any) -> dict[str, Any]:
    """The request's `_meta` as the client sent it: a dict in FastMCP 4, a model's extra fields before."""
    meta = getattr(request_context, "meta", None)
    if meta is None:
        return {}
    found = meta if isinstance(meta, dict) else getattr(meta, "model_extra", None)
    return found if isinstance(found, dict) else {}


def transport_name() -> str | None:
    """FastMCP's name of the transport (3.x, 4.x): "stdio", "sse", "streamable-http"; None in memory and on 2.14."""
    return _transport.get() if _transport is not None else None


def in_http_request() -> bool:
    """Does an HTTP request surround this code, whoever it was addressed to?

    True as well for an in-memory server that a tool of an HTTP server talks to: many callers may stand behind it.
    """
    if _http_request is not None and _http_request.get() is not None:
        return True
    return transport_name() in HTTP_TRANSPORTS


def is_modern(request_context: Any) -> bool:
    """Does the request speak a protocol without sessions?"""
    version = getattr(request_context, "protocol_version", None)
    return isinstance(version, str) and version >= MODERN_PROTOCOL


def is_sse(request: Any) -> bool:
    """Did the request come over the older SSE transport? It names its stream in the query of every message."""
    return b"session_id=" in request.scope.get("query_string", b"")


def in_worker(context: Any) -> bool:
    """Does this run in a background worker, where the request that caused it is long over?"""
    if getattr(context, "is_background_task", False) or (_task_session is not None and _task_session.get() is not None):
        return True
    return in_docket()


def in_docket() -> bool:
    """Does Docket, which runs background tasks, execute this code?"""
    execution = getattr(sys.modules.get("docket.dependencies"), "current_execution", None)
    return isinstance(execution, ContextVar) and execution.get(None) is not None


def is_plain(context: Any) -> bool:
    """Is this the host's own code calling, with no request, credential or worker around it? Four reads, no calls of FastMCP's."""
    if _http_request is None or _auth_user is None:
        return False
    return (
        _http_request.get() is None
        and _auth_user.get() is None
        and (_task_session is None or _task_session.get() is None)
        and (_transport is None or _transport.get() not in HTTP_TRANSPORTS)
        and ("docket.dependencies" not in sys.modules or not in_docket())
        and not getattr(context, "is_background_task", False)
    )


def may_know_caller(request_context: Any) -> bool:
    """Could context variables hold the access token of a call that came without HTTP, and of no other call?

    FastMCP's own search takes microseconds and seldom has reason to.
    """
    if _auth_user is None or _http_request is None:
        return True
    if _http_request.get() is not None:
        return request_context is None or _REQUESTS_CARRY_CONTEXT
    return _auth_user.get() is not None or in_docket()
