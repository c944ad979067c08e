"""The guard in front of every page, file and form: applied once, so no route can forget it.

FastMCP's auth does not protect routes beside `/mcp`, and its check of Host and Origin is off by default, so the dashboard
checks both itself. What is refused looks like nothing at all: 404.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from ..addresses import is_loopback
from .gates import COOKIE, SIGNED_IN_S, Gate, Grant, csrf_token
from .sign_in import STYLE_SOURCE, sign_in_page

MAX_FORM_BYTES: Final = 32_768
_HEADERS: Final = {
    "content-security-policy": "default-src 'none'; script-src 'self'; "
    f"style-src 'self' {STYLE_SOURCE}; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
    # Nothing for other sites. `no-referrer` would make browsers send `Origin: null` with our own forms.
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-robots-tag": "noindex",
    "vary": "Accept, Cookie",
}


class Guard:
    """ASGI middleware: Host, Origin, permission, CSRF; security headers on every answer.

    Args:
        app: What is guarded. It finds the `Grant`, the CSRF token and a sent form in `request.state`.
        gate: Who may look.
        hosts: Names it answers to, beside this machine's; None: any, where the gate allows that.
        welcome: Show the form for signing in on every refused page, not on `/login` alone.
    """

    def __init__(self, app: Any, gate: Gate, *, hosts: Iterable[str] | None = None, welcome: bool = False) -> None:
        self._app = app
        self._gate = gate
        self._hosts = None if hosts is None else frozenset(_host(name) for name in hosts)
        self._welcome = welcome

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Let a request through or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            request = Request(scope, receive)
            answer = await self._answer(request) or self._app
            await answer(scope, receive, _with_headers(send))
        else:  # no page speaks over a web socket
            await send({"type": "websocket.close", "code": 1008})

    async def _answer(self, request: Request) -> Response | None:
        """What the guard itself answers; None lets the request through."""
        if not self._is_ours(request):
            return _nothing()
        changing = request.method not in {"GET", "HEAD"}
        if changing:
            form = await _read_form(request)
            if form is None or not _from_own_page(request):
                return _nothing()
            request.state.form = form
        if _path(request) == "/login":
            return await self._sign_in(request) if changing else _form(request)
        grant = await self._gate.grant(request)
        if grant is None:
            return self._refused(request)
        request.state.grant = grant
        request.state.csrf = csrf_token(self._gate, grant)
        if changing and not hmac.compare_digest(request.state.form.get("csrf", "").encode(), request.state.csrf.encode()):
            return _nothing()
        if changing and _path(request) == "/logout":
            return _signed_out(request)
        return None

    def _is_ours(self, request: Request) -> bool:
        """Is it for a name of ours, and from no other site's page?"""
        host = request.headers.get("host", "")
        name = _name(f"//{host}")
        if name is None or not self._answers_to(name):
            return False
        origin = request.headers.get("origin")
        if origin is None:
            return True
        return urlsplit(origin).netloc.lower() == host.lower() if _name(origin) else False

    def _answers_to(self, name: str) -> bool:
        if self._hosts is None and self._gate.any_host:
            return True
        return is_loopback(name) or name in (self._hosts or ())

    async def _sign_in(self, request: Request) -> Response:
        cookie = await self._gate.sign_in(request.state.form.get("token", ""))
        if cookie is None:
            return _form(request, "That is not it.")
        answer = RedirectResponse(_root(request) + "/", status_code=303)
        answer.set_cookie(
            COOKIE, cookie, max_age=SIGNED_IN_S, path=_root(request) or "/", secure=request.url.scheme == "https", httponly=True,
            samesite="strict",
        )  # fmt: skip
        return answer

    def _refused(self, request: Request) -> Response:
        is_page = request.method == "GET" and "text/html" in request.headers.get("accept", "")
        if is_page and request.headers.get("sec-fetch-site") == "cross-site" and request.headers.get("sec-fetch-mode") == "navigate":
            # A link on another site: the browser kept the strict cookie back, and sends it when the page asks for itself.
            return HTMLResponse('<!doctype html><meta http-equiv="refresh" content="0"><title>Not Found</title>', status_code=404)
        return _form(request) if is_page and self._welcome else _nothing()


def _from_own_page(request: Request) -> bool:
    """Does the browser say that one of our own pages sends this? `Origin` was compared with `Host` before."""
    return "origin" in request.headers and request.headers.get("sec-fetch-site", "same-origin") == "same-origin"


async def _read_form(request: Request) -> dict[str, str] | None:
    """The fields of a form; None when it is too long or not one."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        return None
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM_BYTES:
            return None
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=20))
    except ValueError:
        return None


def _path(request: Request) -> str:
    """The path below where the dashboard is mounted."""
    path: str = request.scope["path"]
    return path.removeprefix(_root(request))


def _root(request: Request) -> str:
    return str(request.scope.get("root_path", "")).rstrip("/")


def _host(text: str) -> str:
    """The name alone of what a host was given as, port or not.

    >>> _host("dash.example.org:8443"), _host("https://Dash.example.org/"), _host("[::1]:80"), _host("::1")
    ('dash.example.org', 'dash.example.org', '::1', '::1')
    """
    plain = text.strip().lower()
    bare = f"[{plain}]" if plain.count(":") > 1 and not plain.startswith("[") and "//" not in plain else plain
    return _name(bare if "//" in bare else f"//{bare}") or plain


def _name(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:  # a bracket without its partner
        return None


def _nothing() -> Response:
    return PlainTextResponse("Not Found", status_code=404)


def _signed_out(request: Request) -> Response:
    answer = RedirectResponse(_root(request) + "/login", status_code=303)
    answer.delete_cookie(COOKIE, path=_root(request) or "/")
    return answer


def _form(request: Request, said: str = "") -> Response:
    """The form for signing in. It needs no style sheet: files are for those who are in."""
    return HTMLResponse(sign_in_page(_root(request) + "/login", said), status_code=404)


def _with_headers(send: Any) -> Any:
    added: Sequence[tuple[bytes, bytes]] = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*(pair for pair in message.get("headers", ()) if pair[0].decode() not in _HEADERS), *added]}
        await send(message)

    return sending


__all__ = ["Grant", "Guard"]
