"""Who may look: by a token, by a scope of FastMCP's access tokens, by a function of the host, or everybody on this machine.

A gate says what a request may do (`Grant`), or nothing at all. What a browser keeps after signing in is a cookie that is
made from the token and cannot be turned back into it.
"""

from __future__ import annotations

import hashlib
import hmac
import inspect
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from starlette.requests import Request

from ..contain import contain

COOKIE: Final = "fastmcp_feedback_dashboard"
MIN_TOKEN_CHARS: Final = 16
SIGNED_IN_S: Final = 30 * 86_400
_MAX_SESSIONS: Final = 1000

Ask = Callable[[Request], bool | Awaitable[bool]]
Verify = Callable[[str], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Grant:
    """What a request may do. `name` is the verified user, `session` what its CSRF token is bound to."""

    payloads: bool = False
    name: str | None = None
    session: str = ""


class Gate(Protocol):
    """Decides about requests. `secret` signs CSRF tokens; `any_host` says that no other site can borrow its permission."""

    secret: bytes
    any_host: bool

    async def grant(self, request: Request) -> Grant | None:
        """What this request may do; None: nothing."""
        ...

    async def sign_in(self, secret: str) -> str | None:
        """The cookie for somebody who gave this secret; None when it is wrong or there is nothing to sign in with."""
        ...


class OpenGate:
    """Everybody who can reach it: only for addresses of this machine."""

    any_host = False

    def __init__(self, *, payloads: bool = False) -> None:
        self.secret = secrets.token_bytes(32)
        self._grant = Grant(payloads)

    async def grant(self, request: Request) -> Grant | None:  # noqa: ARG002 - as the other gates
        """Everything."""
        return self._grant

    async def sign_in(self, secret: str) -> str | None:  # noqa: ARG002 - as the other gates
        """There is nothing to sign in with."""
        return None


class TokenGate:
    """Who knows the token: in a header, or as the cookie that signing in gives.

    Raises:
        ValueError: the token is so short that it can be guessed.
    """

    any_host = True

    def __init__(self, token: str, *, payloads: bool = False) -> None:
        if len(token) < MIN_TOKEN_CHARS:
            raise ValueError(
                f"the token has {len(token)} characters, at least {MIN_TOKEN_CHARS} are needed; "
                'make one: python -c "import secrets; print(secrets.token_urlsafe())"'
            )
        self._digest = _digest(token)
        self._payloads = payloads
        self.secret = hashlib.sha256(b"fastmcp-feedback dashboard\0" + token.encode()).digest()

    async def grant(self, request: Request) -> Grant | None:
        """By header or cookie."""
        sent = bearer(request)
        if sent is not None:
            return Grant(self._payloads) if self._is_token(sent) else None
        cookie = request.cookies.get(COOKIE, "")
        return Grant(self._payloads, session=cookie) if self._is_cookie(cookie) else None

    async def sign_in(self, secret: str) -> str | None:
        """A cookie that holds for thirty days, or until the token changes."""
        if not self._is_token(secret):
            return None
        body = f"{int(time.time()) + SIGNED_IN_S}.{secrets.token_urlsafe(9)}"
        return f"{body}.{self._seal(body)}"

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(_digest(text), self._digest)

    def _is_cookie(self, cookie: str) -> bool:
        body, _, seal = cookie.rpartition(".")
        if not hmac.compare_digest(seal.encode(), self._seal(body).encode()):
            return False
        return int(body.partition(".")[0]) > time.time()

    def _seal(self, body: str) -> str:
        return hmac.new(self.secret, b"signed in\0" + body.encode(), hashlib.sha256).hexdigest()


class ScopeGate:
    """Who holds an access token with the scope: verified by FastMCP's own auth, in a header or when signing in.

    `payload_scope` is the scope that shows recorded arguments and results; True shows them to everybody who gets in.
    Who signed in is remembered in this process; the token is verified again on every request.
    """

    any_host = True

    def __init__(self, scope: str, verify: Verify, *, payload_scope: str | bool = False) -> None:
        self._scope = scope
        self._verify = verify
        self._payload_scope = payload_scope
        self._sessions: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self.secret = secrets.token_bytes(32)

    async def grant(self, request: Request) -> Grant | None:
        """By the token of the header, else by that of the session."""
        sent = bearer(request)
        if sent is not None:
            return self._of_token(await self._verified(sent), "")
        cookie = request.cookies.get(COOKIE, "")
        token, until = self._sessions.get(cookie, ("", 0.0))
        if until <= time.time():
            self._sessions.pop(cookie, None)
            return None
        return self._of_token(await self._verified(token), cookie)

    async def sign_in(self, secret: str) -> str | None:
        """A session for the holder of a token with the scope."""
        if self._of_token(await self._verified(secret), "") is None:
            return None
        session = secrets.token_urlsafe(32)
        self._sessions[session] = (secret, time.time() + SIGNED_IN_S)
        while len(self._sessions) > _MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return session

    async def _verified(self, token: str) -> Any:
        with contain("verifying a token for the dashboard"):
            return await self._verify(token)
        return None

    def _of_token(self, token: Any, session: str) -> Grant | None:
        scopes = getattr(token, "scopes", None) or ()
        if token is None or self._scope not in scopes:
            return None
        shown = self._payload_scope if isinstance(self._payload_scope, bool) else self._payload_scope in scopes
        claims = getattr(token, "claims", None) or {}
        name = getattr(token, "subject", None) or claims.get("sub") or getattr(token, "client_id", None)
        return Grant(shown, None if name is None else str(name), session)


class AskGate:
    """Whom a function of the host lets in."""

    any_host = False

    def __init__(self, ask: Ask, *, payloads: bool = False) -> None:
        self._ask = ask
        self._payloads = payloads
        self.secret = secrets.token_bytes(32)

    async def grant(self, request: Request) -> Grant | None:
        """What the function says; nothing when it fails."""
        with contain("the dashboard's auth function"):
            answer = self._ask(request)
            if inspect.isawaitable(answer):
                answer = await answer
            return Grant(self._payloads) if answer is True else None
        return None

    async def sign_in(self, secret: str) -> str | None:  # noqa: ARG002 - as the other gates
        """That is the host's business."""
        return None


def bearer(request: Request) -> str | None:
    """The token of the Authorization header; None when there is none."""
    scheme, _, sent = request.headers.get("authorization", "").partition(" ")
    return sent.strip() if scheme.lower() == "bearer" else None


def csrf_token(gate: Gate, grant: Grant) -> str:
    """What a form has to send back: made from the gate's secret and the session, so no other site knows it."""
    return hmac.new(gate.secret, b"form\0" + grant.session.encode(), hashlib.sha256).hexdigest()


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
