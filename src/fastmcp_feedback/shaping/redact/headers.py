"""Authorization, cookie and proxy headers, wherever they stand in a text."""

from __future__ import annotations

# ruff: noqa: E501 - alternatives of one pattern
import re
from typing import Final

from .extent import bare, quoted
from .spans import Span
from .values import is_placeholder, is_word, looks_random, plausible

_AUTHORIZATION: Final = frozenset(
    (
        b"authorization",
        b"proxy-authorization",
        b"x-authorization",
        b"x-forwarded-authorization",
        b"http_authorization",
        b"proxy_authorization",
        b"x-amzn-authorization",
    )
)
_COOKIE: Final = frozenset((b"cookie", b"set-cookie", b"cookie2", b"set-cookie2", b"http_cookie", b"set_cookie"))
_LINK: Final = re.compile(
    rb"(?:\\{0,15}[\"'`]\]?)?[ \t]{0,8}+(?:=>|[:=,]|%3[aA])[ \t]{0,8}(?P<quote>\\{0,15}[\"'`])?[ \t]{0,8}(?:Bearer:)?"
)
_SCHEME: Final = re.compile(
    rb"(?P<name>[Bb]earer|BEARER|[Bb]asic|BASIC|[Tt]oken|[Dd]igest|[Aa]pi[Kk]ey|[Aa]pikey|[Nn]egotiate|NTLM|[Hh]awk|OAuth|oauth|AWS4-HMAC-SHA256|AWS"
    rb"|[Ss]haredKey(?:Lite)?|[Ss]haredAccessSignature|[Gg]oogleLogin|SSWS|[Kk]ey|[Vv]apid|GenieKey|[Bb]ot|JWT|[Ss]ignature|[Dd][Pp]o[Pp]|[A-Z][A-Za-z\-]{2,24})(?:[ \t]|%20|\+)+"
)
_WHOLE: Final = frozenset(
    (b"digest", b"hawk", b"oauth", b"aws4-hmac-sha256", b"signature", b"vapid", b"googlelogin", b"sharedaccesssignature")
)
_LINE: Final = re.compile(rb"[^\r\n\"`]*")
_WHOLE_LINE: Final = re.compile(rb"[^\r\n]*")
_CREDENTIAL: Final = re.compile(rb"[^\s\"'`,;\\<>\[\]{}()|]+")
_COOKIE_PAIR: Final = re.compile(rb"[ \t]*([^=;,\s\"'\\]{1,100})=(\"[^\"\\;]*\"|[^;\s\"'\\,]*)(?:;[ \t]*)?")
_ATTRIBUTES: Final = frozenset((b"path", b"domain", b"expires", b"max-age", b"samesite", b"version", b"comment", b"priority"))
_FLAG: Final = re.compile(rb"[ \t]*(?:HttpOnly|Secure|Partitioned)(?:;[ \t]*)?", re.IGNORECASE)
_AFTER_COOKIE: Final = re.compile(rb"[ \t]{0,4}=[ \t]{0,4}")
_BASIC: Final = re.compile(rb"[A-Za-z0-9+/_\-]{8,}={0,2}")


def is_header(key: bytes) -> bool:
    """Is this lower-case name a header whose whole value is a credential?"""
    return key in _AUTHORIZATION or key in _COOKIE


def after(data: bytes, end: int, key: bytes) -> list[Span] | None:
    """Secrets of the header whose name ends at `end`; None when what follows is no header."""
    link = _LINK.match(data, end)
    if link is None:
        return [] if key in _AUTHORIZATION else None
    if key in _COOKIE:
        return _cookies(data, link.end())
    found = _authorization(data, link.end(), link["quote"])
    return [] if found is None else [(*found, "authorization-header")]


def _authorization(data: bytes, at: int, quote: bytes | None) -> tuple[int, int] | None:
    scheme = _SCHEME.match(data, at)
    if scheme is not None:
        at = scheme.end()
        if scheme["name"].lower() in _WHOLE:
            line = (_LINE if quote else _WHOLE_LINE).match(data, at)
            return line.span() if line and not line[0].startswith(b"[") else None
    if quote and (end := data.find(quote, at, at + 16_384)) > at:
        value = data[at:end]
        return None if is_placeholder(value) or (scheme is None and is_word(value)) else (at, end)
    found = _CREDENTIAL.match(data, at)
    if found is None or is_placeholder(found[0]) or is_word(found[0]):
        return None
    if scheme is None and not plausible(found[0], firm=False):
        return None
    if scheme is not None and not _known(scheme["name"]) and not looks_random(found[0]):
        return None
    end = found.end()
    while data[end - 1 : end] in {b".", b":"} and end > at:
        end -= 1
    return (at, end) if len(found[0]) >= 4 else None


def _known(scheme: bytes) -> bool:
    return scheme.lower() in {
        b"bearer",
        b"basic",
        b"token",
        b"negotiate",
        b"ntlm",
        b"apikey",
        b"ssws",
        b"bot",
        b"jwt",
        b"geniekey",
        b"aws",
        b"key",
        b"dpop",
        b"sharedkey",
        b"sharedkeylite",
    }


def _cookies(data: bytes, at: int) -> list[Span] | None:
    """The values of `a=1; b=2`, without the attributes of `Set-Cookie`; None when there is no pair."""
    out: list[Span] = []
    begin = at
    stop = min(len(data), at + 16_384)
    while at < stop and (pair := _COOKIE_PAIR.match(data, at, stop)):
        if pair[1].lower() not in _ATTRIBUTES and not is_placeholder(pair[2]):
            out.append((*pair.span(2), "cookie-header"))
        at = pair.end()
        flag = _FLAG.match(data, at)
        at = flag.end() if flag else at
    return out if at > begin else None


def cookie_value(data: bytes, end: int) -> tuple[int, int] | None:
    """The value of a session cookie written as `NAME=value`."""
    link = _AFTER_COOKIE.match(data, end)
    if link is None:
        return None
    inside = quoted(data, link.end())
    start, stop = inside or (link.end(), bare(data, link.end()))
    return (start, stop) if looks_random(data[start:stop]) else None


_SCHEME_ENDS: Final = frozenset((b"r", b"R", b"c", b"C", b" ", b"\t"))


def scheme_before(data: bytes, start: int) -> Span | None:
    """`Bearer x` and `Basic x` without the header's name, when a long run begins at `start`."""
    if data[start - 2 : start - 1] not in _SCHEME_ENDS:
        return None
    before = data[max(0, start - 9) : start].lower()
    if before.rstrip(b" \t").endswith(b"bearer") and before[-1:] in b" \t":
        token = _CREDENTIAL.match(data, start)
        end = start + len(token[0].rstrip(b".,")) if token else start
        return (start, end, "bearer-token") if looks_random(data[start:end], 12) else None
    if before.rstrip(b" \t").endswith(b"basic") and before[-1:] in b" \t":
        found = _BASIC.match(data, start)
        return (*found.span(), "basic-credentials") if found and _is_basic(found[0]) else None
    return None


def _is_basic(text: bytes) -> bool:
    """Does it decode to `user:password`?"""
    import base64  # noqa: PLC0415 - rare

    try:
        plain = base64.b64decode(text + b"=" * (-len(text) % 4), altchars=b"-_" if b"-" in text or b"_" in text else None)
        return b":" in plain and plain.decode("utf-8").isprintable()
    except ValueError:
        return False
