"""Who calls: the verified access token, and what the client says about itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .conversation import digest
from .request import HTTP_TRANSPORTS, bounded, header, is_sse, may_know_caller, transport_name

try:
    from fastmcp.server.dependencies import get_access_token as _token_of_context
except ImportError:  # pragma: no cover - every supported version has it
    _token_of_context: Callable[[], Any] | None = None  # type: ignore[no-redef]  # a fallback under the same name

try:
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser as _AuthenticatedUser
except ImportError:  # pragma: no cover - every supported version has it
    _AuthenticatedUser: Any = ()  # type: ignore[no-redef]  # isinstance(x, ()) is False


def access_token(request_context: Any) -> Any:
    """The verified access token of the call, or None. Never raises.

    For an HTTP request it is the one of this very request; FastMCP's own look-up falls back to context variables,
    which on a long session may still hold the credential that opened it.
    """
    try:
        request = getattr(request_context, "request", None)
        if request is not None:
            user = request.scope.get("user")
            return user.access_token if isinstance(user, _AuthenticatedUser) else None
        return _token_of_context() if _token_of_context is not None and may_know_caller(request_context) else None
    except Exception:  # noqa: BLE001 - no token can be read: the caller is not verified
        return None


def subject_of(token: Any) -> str | None:
    """The subject that the token was issued for; None for a token without one."""
    subject = getattr(token, "subject", None)
    if subject is None:
        subject = claims_of(token).get("sub")
    return bounded(subject) or None


def claims_of(token: Any) -> dict[str, Any]:
    """The token's claims; empty when there are none."""
    claims = getattr(token, "claims", None)
    return claims if isinstance(claims, dict) else {}


def principal_of(token: Any) -> str | None:
    """A digest of OAuth client, issuer and subject: what tells one verified caller from another."""
    if token is None:
        return None
    issuer = claims_of(token).get("iss")
    return digest(bounded(getattr(token, "client_id", None)), bounded(issuer), subject_of(token))


def describe_client(context: Any) -> dict[str, str]:
    """Client name and version, protocol version, transport and user agent, as far as they are known."""
    request_context = getattr(context, "request_context", None)
    if request_context is None:
        return {}
    request = getattr(request_context, "request", None)
    params = getattr(request_context.session, "client_params", None)
    client = _field(params, "client_info", "clientInfo")
    found = {
        "client_name": bounded(getattr(client, "name", None)),
        "client_version": bounded(getattr(client, "version", None)),
        "protocol_version": bounded(_protocol_version(request_context, request, params)),
        "transport": _transport_of(request),
        "user_agent": bounded(header(request, b"user-agent")) if request is not None else None,
    }
    return {key: value for key, value in found.items() if value}


def _protocol_version(request_context: Any, request: Any, params: Any) -> Any:
    """The negotiated version: FastMCP 4 knows it; before, HTTP requests repeat it, and else the client's wish is all."""
    version = getattr(request_context, "protocol_version", None)
    if version is None and request is not None:
        version = header(request, b"mcp-protocol-version")
    return version if version is not None else _field(params, "protocol_version", "protocolVersion")


def _transport_of(request: Any) -> str | None:
    """The transport of this call; a surrounding server's transport is not the one of an in-memory call inside it."""
    name = transport_name()
    if request is None:
        return None if name in HTTP_TRANSPORTS else name
    if name in HTTP_TRANSPORTS:
        return name
    return _SSE if is_sse(request) else _STREAMABLE


_SSE: Final = "sse"
_STREAMABLE: Final = "streamable-http"


def _field(model: Any, snake: str, camel: str) -> Any:
    """A protocol field by the name it has in this version; reading the other name would warn or search in vain."""
    if model is None:
        return None
    return getattr(model, snake if snake in type(model).model_fields else camel, None)
