"""Carry-over: what was removed once is removed wherever it stands afterwards.

Covered: the value as it is, JSON-escaped (also inside a JSON string once more), URL-encoded (`%20` and `+`), and as
standard or URL-safe base64 of the whole value. Not covered: other encodings, hashes, values cut in two, translated or
re-cased, values shorter than six characters and common words.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Final
from urllib.parse import quote, quote_plus, unquote

from ...jsonsafe import dump_safe, loads
from .sealed import SealedCarryOver

REDACTED: Final = "[REDACTED]"
MIN_CHARS: Final = 6
_MAX_VALUES: Final = 512
_MAX_CHARS: Final = 16_384
_STRUCTURE: Final = re.compile(r'[\[\]{}:,"\s\d.eE+\-truefalsn]*')
_SCHEME: Final = re.compile(r"(?:bearer|basic|token|digest|apikey|negotiate)\s+(\S.*)", re.IGNORECASE | re.DOTALL)
_COOKIE: Final = re.compile(r"[\w.\-]{1,80}=([^;\s]{6,})")

# Values that are removed under a secret key and yet stand everywhere in ordinary text.
COMMON: Final = frozenset(
    (
        "secret", "password", "passwd", "token", "tokens", "string", "number", "object", "boolean", "integer", "default", "example",
        "missing", "required", "optional", "expired", "invalid", "unknown", "hidden", "private", "public", "server", "client", "request",
        "response", "result", "results", "status", "success", "failed", "failure", "errors", "warning", "message", "content", "version",
        "username", "account", "address", "session", "cookie", "cookies", "header", "headers", "bearer", "basic", "digest", "oauth2",
        "openid", "google", "github", "gitlab", "amazon", "microsoft", "postgres", "postgresql", "mysql", "sqlite", "mongodb", "redis",
        "localhost", "production", "staging", "development", "testing", "master", "develop", "enabled", "disabled", "undefined",
        "anonymous", "guest", "admin", "administrator", "system", "service", "database", "changeme", "welcome", "qwerty", "letmein",
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february", "november", "december",
        "application/json", "text/plain", "text/html", "utf-8", "charset", "include", "same-origin", "always", "before", "after",
        "create", "update", "delete", "select", "insert", "filter", "search", "return", "values", "function", "python", "javascript",
        "000000", "111111", "123456", "1234567", "12345678", "123456789", "1234567890", "[redacted]", "redacted", "xxxxxx", "******",
    )
)  # fmt: skip


class CarryOver:
    """The values that one call lost, ready to be removed from everything recorded after it. Falsy when empty.

    >>> carried = CarryOver.from_values(["hunter2-prod", "no"])
    >>> carried.apply_text("login failed for hunter2-prod"), bool(carried)
    ('login failed for [REDACTED]', True)
    """

    __slots__ = ("_forms", "_forms_json", "_numeric", "_replacement", "_values")

    def __init__(self, values: tuple[str, ...], replacement: str = REDACTED) -> None:
        self._values = values
        self._replacement = replacement
        self._forms: tuple[str, ...] | None = None
        self._forms_json: tuple[bytes, ...] = ()
        self._numeric: frozenset[str] = frozenset()

    @classmethod
    def from_values(cls, values: Iterable[str], replacement: str = REDACTED) -> CarryOver:
        """Keep what is worth carrying: at least six characters, not a common word. Long values come first."""
        kept: set[str] = set()
        for value in values:
            for part in _parts(value):
                if worth_carrying(part):
                    kept.add(part)
            if len(kept) >= _MAX_VALUES:
                break
        return cls(tuple(sorted(kept, key=lambda value: (-len(value), value))), replacement)

    def __bool__(self) -> bool:
        return bool(self._values)

    def __repr__(self) -> str:
        return f"CarryOver({len(self._values)} values)"

    def apply_text(self, text: str) -> str:
        """The text without the values, in any covered form."""
        if not self._values or len(text) < MIN_CHARS:
            return text
        for form in self._ready():
            if form in text:
                text = text.replace(form, self._replacement)
        return text

    def apply_json(self, data: bytes, breathe: Callable[[], None] | None = None) -> bytes:
        """The JSON bytes without the values; the same object when none stands in it, and always valid JSON."""
        if not self._values or len(data) < MIN_CHARS:
            return data
        self._ready()
        replacement = json.dumps(self._replacement)[1:-1].encode()
        risky = False
        changed = data
        for form in self._forms_json:
            if form not in changed:
                continue
            if form.decode() in self._numeric:
                risky = True
            else:
                changed = changed.replace(form, replacement)
            if breathe is not None:
                breathe()
        return dump_safe(self._clean(loads(changed))) if risky else changed

    def seal(self) -> SealedCarryOver:
        """The frozen form: keyed hashes only, never a value."""
        return SealedCarryOver.of(self._values, self._replacement)

    def _ready(self) -> tuple[str, ...]:
        """Every form of every value, made when first needed."""
        if self._forms is None:
            forms: dict[str, None] = {}
            for value in self._values:
                forms.update(dict.fromkeys(covered_forms(value)))
            self._forms = tuple(sorted(forms, key=len, reverse=True))
            inside: dict[str, None] = {}
            for form in self._forms:
                inside.update(dict.fromkeys((json.dumps(form, ensure_ascii=False)[1:-1], json.dumps(form)[1:-1])))
            self._forms_json = tuple(form.encode("utf-8", "surrogatepass") for form in inside)
            # Digits, brackets and `true` also stand outside strings: those are looked for value by value.
            self._numeric = frozenset(form for form in inside if _STRUCTURE.fullmatch(form))
        return self._forms

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.apply_text(value)
        if isinstance(value, dict):
            return {self.apply_text(key): self._clean(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._clean(item) for item in value]
        if isinstance(value, (int, float)) and not isinstance(value, bool) and json.dumps(value) in self._values:
            return self._replacement
        return value


def worth_carrying(value: str) -> bool:
    """Long enough and no common word.

    >>> worth_carrying("hunter2!"), worth_carrying("short"), worth_carrying("Password")
    (True, False, False)
    """
    return MIN_CHARS <= len(value) <= _MAX_CHARS and value.lower() not in COMMON and len(set(value)) > 2 and not value.isspace()


def covered_forms(value: str) -> list[str]:
    """The value and its covered encodings, without repeats."""
    raw = value.encode("utf-8", "surrogatepass")
    packed = base64.b64encode(raw).decode()
    escaped = json.dumps(value, ensure_ascii=False)[1:-1]
    forms = [
        value,
        escaped,
        json.dumps(value)[1:-1],
        json.dumps(escaped, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(value)[1:-1])[1:-1],
        quote(raw, safe=""),
        quote(raw),
        quote_plus(raw),
    ]
    if len(raw) >= 9:
        forms += [
            packed,
            packed.rstrip("="),
            packed.replace("+", "-").replace("/", "_"),
            packed.replace("+", "-").replace("/", "_").rstrip("="),
        ]
    return list(dict.fromkeys(form for form in forms if len(form) >= MIN_CHARS))


def _parts(value: str) -> list[str]:
    """The value and the secrets in it: behind a scheme, in a cookie, decoded from a URL or from Basic."""
    out = [value, value.strip()]
    value = out[1]
    if "%" in value and (plain := unquote(value)) != value:
        out.append(plain)
    if scheme := _SCHEME.fullmatch(value):
        out.append(scheme[1])
        out += _basic(scheme[1])
    elif value.endswith("=") or (len(value) >= 12 and value.isalnum()):
        out += _basic(value)
    if "=" in value and len(value) <= 8_192:
        out += _COOKIE.findall(value)
    return out


def _basic(text: str) -> list[str]:
    """The password of `Basic` credentials."""
    try:
        plain = base64.b64decode(text + "=" * (-len(text) % 4), validate=True).decode("utf-8")
    except ValueError:
        return []
    _user, colon, password = plain.partition(":")
    return [password] if colon and plain.isprintable() else []
