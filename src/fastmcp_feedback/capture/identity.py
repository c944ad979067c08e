"""The identity resolver that reads FastMCP's own auth."""

from __future__ import annotations

from typing import Any

from .adapter import access_token, client_info
from .caller import claims_of, subject_of
from .request import bounded

_SERVICE_GRANTS = frozenset({"client-credentials", "client_credentials"})
_PERSONAL_CLAIMS = ("email", "preferred_username")


def default_identity_resolver(context: Any) -> dict[str, Any]:
    """Who calls, from FastMCP's verified access token, and what the client says about itself.

    Pass it as `identity_resolver`. The columns are `user_sub` (the token's subject), `client_id` (the OAuth client) and
    `caller_kind` ("user" or "service", only where the token's claims leave no doubt). The record's `identity` gets
    `scopes` and, unverified, `client_name`, `client_version`, `protocol_version`, `transport`, `user_agent`. What is
    not known is missing; without auth only the client remains. The token itself and other claims are never read out.

    Args:
        context: the `MiddlewareContext` of a tool call.

    Returns:
        A new dict, possibly empty. Never raises.

    >>> from types import SimpleNamespace
    >>> default_identity_resolver(SimpleNamespace(fastmcp_context=None))
    {}
    """
    identity: dict[str, Any] = {}
    token = access_token(getattr(context.fastmcp_context, "request_context", None))
    if token is not None:
        identity.update(_verified(token))
    identity.update(client_info(context))
    return identity


def _verified(token: Any) -> dict[str, Any]:
    found = {
        "user_sub": subject_of(token),
        "client_id": bounded(getattr(token, "client_id", None)),
        "caller_kind": _kind_of(token),
    }
    scopes = getattr(token, "scopes", None)
    if isinstance(scopes, (list, tuple)):
        found_scopes = [str(scope) for scope in scopes]
        return {**{key: value for key, value in found.items() if value is not None}, "scopes": found_scopes}
    return {key: value for key, value in found.items() if value is not None}


def _kind_of(token: Any) -> str | None:
    """What the issuer says the caller is; None where that takes guessing."""
    claims = claims_of(token)
    if claims.get("gty") in _SERVICE_GRANTS or claims.get("idtyp") == "app":
        return "service"
    if claims.get("idtyp") == "user" or any(claims.get(claim) for claim in _PERSONAL_CLAIMS):
        return "user"
    return None
