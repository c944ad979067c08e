"""Where the versions of FastMCP differ: everything that capture asks about a call.

Functions here run on the caller's time: they read, they never wait, and they never raise.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .. import contain
from ..raw import CallContext
from .caller import access_token, describe_client, principal_of, subject_of
from .conversation import (
    BAGGAGE,
    PROCESS,
    SESSION,
    USER,
    conversation_for,
    conversation_in_baggage,
    make_key,
    process_key,
    stream_key,
    trace_parent,
)
from .dispatch import dispatched_by_mount
from .request import bounded, header, in_http_request, in_worker, is_modern, is_plain, is_sse, meta_of, transport_name
from .results import result_payload, with_meta

try:  # FastMCP 3 and 4 need it themselves; 2.14 has it by way of another package only
    from opentelemetry.trace import INVALID_SPAN, get_current_span
except ImportError:  # pragma: no cover - no supported version lacks it today
    get_current_span = None  # type: ignore[assignment]  # tested where it is used

__all__ = [
    "CallContext",
    "access_token",
    "call_context",
    "client_info",
    "conversation_for",
    "dispatched_by_mount",
    "is_tool_call",
    "result_payload",
    "verified_user",
    "with_meta",
]


def is_tool_call(context: Any) -> bool:
    """Is this message a `tools/call` that FastMCP could read? FastMCP 4 shows malformed ones, as plain dicts.

    On a hot path test `context.method` first: it settles the question for every other message.
    """
    return context.method == "tools/call" and hasattr(context.message, "name")


def call_context(context: Any) -> CallContext:
    """Who and where, for a `MiddlewareContext`. What cannot be read stays None. Not to be changed: it may be shared."""
    try:
        ctx = context.fastmcp_context
        if ctx is not None and ctx.request_context is None and is_plain(ctx) and not _in_span():
            return _direct_context(process_key())
    except Exception as exc:  # noqa: BLE001 - a failure of ours must not cost the call
        contain.report("call context", exc)
    found = CallContext()
    try:
        _fill(found, context.fastmcp_context)
    except Exception as exc:  # noqa: BLE001 - a failure of ours must not cost the call
        contain.report("call context", exc)
    return found


def client_info(context: Any) -> dict[str, str]:
    """What the client says about itself: `client_name`, `client_version`, `protocol_version`, `transport`, `user_agent`.

    Read from the request's `_meta` on protocol 2026-07-28 and from `initialize` before; keys that nobody gave are
    missing. Nothing of it is verified.
    """
    try:
        return describe_client(context.fastmcp_context)
    except Exception as exc:  # noqa: BLE001 - a failure of ours must not cost the call
        contain.report("client info", exc)
        return {}


def verified_user(context: Any) -> str | None:
    """The subject of the call's verified access token; None without one."""
    token = access_token(getattr(context.fastmcp_context, "request_context", None))
    return subject_of(token) if token is not None else None


def _fill(found: CallContext, ctx: Any) -> None:
    request_context = ctx.request_context if ctx is not None else None
    token = access_token(request_context)
    user = None
    if token is not None:
        found.verified_user = subject_of(token)
        user = principal_of(token)
    _note_span(found, request_context)
    if request_context is None:
        _fill_direct(found, ctx, user)
        return
    meta = meta_of(request_context)
    found.request_id = bounded(request_context.request_id)
    found.session_id = _session_id(ctx, request_context)
    if meta:
        found.client_id = bounded(meta.get("client_id"))
        if found.trace_id is None:
            parent = trace_parent(meta.get("traceparent"))
            if parent is not None:
                found.trace_id, found.span_id = parent
    basis, value = _conversation(request_context, meta, user)
    if basis is not None:
        found.conversation_key, found.conversation_basis = make_key(basis, user, value), basis


def _in_span() -> bool:
    return get_current_span is not None and get_current_span() is not INVALID_SPAN


@lru_cache(maxsize=2)
def _direct_context(process: str) -> CallContext:
    return CallContext(conversation_key=make_key(PROCESS, None, process), conversation_basis=PROCESS)


def _note_span(found: CallContext, request_context: Any) -> None:
    """The current span.

    In a request, one that has ended is another's: before FastMCP 4 a session keeps the span of the request that opened it.
    """
    if get_current_span is None:
        return
    span = get_current_span()
    context = span.get_span_context()
    if context.is_valid and (request_context is None or getattr(span, "end_time", None) is None):
        found.trace_id, found.span_id = format(context.trace_id, "032x"), format(context.span_id, "016x")


def _fill_direct(found: CallContext, ctx: Any, user: str | None) -> None:
    """A call without a request: the host's own code, a web route of it, or a background worker."""
    if in_worker(ctx):
        found.session_id = bounded(_own_session_id(ctx))
    elif not in_http_request():
        found.conversation_key, found.conversation_basis = make_key(PROCESS, user, process_key()), PROCESS
        return
    if user is not None:
        found.conversation_key, found.conversation_basis = make_key(USER, user, None), USER


def _session_id(ctx: Any, request_context: Any) -> str | None:
    request = getattr(request_context, "request", None)
    if request is not None:
        sent = header(request, b"mcp-session-id")
        if sent is not None:
            return bounded(sent)
    elif transport_name() == "stdio":
        return process_key()
    return bounded(_own_session_id(ctx))


def _own_session_id(ctx: Any) -> str | None:
    try:
        found: str = ctx.session_id
    except RuntimeError:  # there is no session
        return None
    return found


def _conversation(request_context: Any, meta: dict[str, Any], user: str | None) -> tuple[str | None, str | None]:
    """Basis and value, the best one first."""
    request = getattr(request_context, "request", None)
    if request is None:
        if not in_http_request():
            return PROCESS, process_key()
    elif not is_modern(request_context):
        session = _issued_session(request_context.session, request)
        if session is not None:
            return SESSION, session
    conversation = conversation_in_baggage(meta.get("baggage")) if meta else None
    if conversation is not None:
        return BAGGAGE, conversation
    return (USER if user is not None else None), None


def _issued_session(session: Any, request: Any) -> str | None:
    """A session id that the server gave out. A header alone proves nothing: on a stateless server anybody can send one.

    Streamable HTTP with sessions refuses ids that it did not issue, and there this very session has seen
    `initialize`; a stateless one has not. SSE never looks at the header, so its stream stands for the session.
    """
    if is_sse(request):
        return stream_key(getattr(session, "_connection", session))
    sent = header(request, b"mcp-session-id")
    return sent if sent is not None and session.client_params is not None else None
