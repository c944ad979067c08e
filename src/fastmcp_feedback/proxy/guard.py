"""Who may talk to the proxy over HTTP: checks of Host, Origin and token in front of everything else.

A browser can be made to send requests to a server on this machine under another name (DNS rebinding); the Host and
Origin checks stop that. An address that others can reach needs a token.
"""

from __future__ import annotations

import hmac
from typing import Any
from urllib.parse import urlsplit

from ..addresses import is_loopback

Scope = dict[str, Any]


class Guard:
    """ASGI middleware: 403 for a strange Host or Origin, 401 without the token."""

    def __init__(self, app: Any, *, host: str, token: str | None) -> None:
        self._app = app
        self._host = host.strip("[]").lower()
        self._token = token.encode() if token else None

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Let a request through or refuse it."""
        if scope["type"] == "http":
            headers = {key: value.decode("latin-1") for key, value in scope["headers"]}
            if not self._known(_host_of(f"//{headers.get(b'host', '')}")):
                await _refuse(send, 403, "this server does not answer to that Host")
                return
            origin = headers.get(b"origin")
            if origin is not None and not self._known(_host_of(origin)):
                await _refuse(send, 403, "requests from that Origin are not allowed")
                return
            if self._token is not None and not self._has_token(headers.get(b"authorization", "")):
                await _refuse(send, 401, "send the token: Authorization: Bearer TOKEN")
                return
            if self._token is not None:  # it is meant for us; FastMCP would hand it on to the remote server
                scope = {**scope, "headers": [pair for pair in scope["headers"] if pair[0] != b"authorization"]}
        await self._app(scope, receive, send)

    def _known(self, name: str | None) -> bool:
        if name is None:
            return False
        if self._token is not None and not is_loopback(self._host):
            return True  # reachable under names that we cannot know; the token decides
        return is_loopback(name) or name == self._host

    def _has_token(self, authorization: str) -> bool:
        scheme, _, sent = authorization.partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(sent.strip().encode(), self._token or b"")


def _host_of(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:  # a bracket without its partner
        return None


async def _refuse(send: Any, status: int, reason: str) -> None:
    body = reason.encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
