"""The redactor that hosts construct and subclass."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from .keys import PLAIN, STRONG, KeyRules
from .keywords import DEFAULT_SUFFIXES
from .spans import cut_out

if TYPE_CHECKING:
    from .walk import Walk

REDACTED: Final = "[REDACTED]"

Report = Callable[[tuple[str, ...], str, int], None]
Pattern = str | re.Pattern[str]


class Redactor:
    """Removes secrets from values and texts.

    A secret key's value goes whole, at any depth; secret-shaped values go wherever they stand in a text. See
    `docs/redaction.md` for every rule. Instances are immutable in use and may be shared between threads.

    Args:
        keys: Exact key names that are secret, whatever their case and separators. They come before the endings.
        patterns: Patterns instead of the built-in shapes (vendor tokens, URLs, private keys). Values announced by a
            secret key in a text (`password=...`) are removed in any case.
        extra_keys: Key names in addition.
        extra_patterns: Patterns in addition: strings or compiled. A group named `secret` says which part goes.
        suffixes: Endings that make a key secret; replaces the built-in ones.
        pii: Groups of personal data to remove too: `email`, `card`, `iban`, `phone`, `ssn`.
        replacement: What stands where a secret was.
        max_depth: Containers nested deeper become `"[TRUNCATED]"`.

    Raises:
        ValueError: A pattern does not compile or could backtrack without bound while google-re2 is not installed; an
            unknown group of personal data; a `max_depth` below 1.
        TypeError: A `replacement` that is not text, a `max_depth` that is not a whole number.

    >>> Redactor().redact({"user": "ada", "apiKey": "k-123", "note": "password=hunter2"})
    {'user': 'ada', 'apiKey': '[REDACTED]', 'note': 'password=[REDACTED]'}
    """

    def __init__(
        self,
        keys: Iterable[str] | None = None,
        patterns: Iterable[Pattern] | None = None,
        *,
        extra_keys: Iterable[str] = (),
        extra_patterns: Iterable[Pattern] = (),
        suffixes: Iterable[str] | None = DEFAULT_SUFFIXES,
        pii: Iterable[str] | str = (),
        replacement: str = REDACTED,
        max_depth: int = 32,
    ) -> None:
        if not isinstance(replacement, str):
            raise TypeError(f"replacement must be text, not {replacement!r}")
        if isinstance(max_depth, bool) or not isinstance(max_depth, int):
            raise TypeError(f"max_depth must be a whole number, not {max_depth!r}")
        if max_depth < 1:
            raise ValueError(f"max_depth must be at least 1, not {max_depth!r}")
        self.replacement = replacement
        self.max_depth = max_depth
        own = None if suffixes is DEFAULT_SUFFIXES else suffixes
        self._keys = KeyRules(_names(keys), _names(extra_keys), own if own is None else tuple(own))
        from . import engine  # noqa: PLC0415 - compiles the rules

        self._engine = engine
        host = engine.compile_patterns([*_patterns(patterns), *_patterns(extra_patterns)])
        self._groups = engine.chosen(pii if isinstance(pii, str) else tuple(pii))
        self.rules = engine.TextRules(self._keys, host, self._groups, shapes=patterns is None)
        kind = type(self)
        own_methods = (kind.redact, kind.redact_text, kind.is_secret_key) == (Redactor.redact, Redactor.redact_text, Redactor.is_secret_key)
        self._road = engine.JsonRoad(self, straight=own_methods)

    def redact(self, value: Any) -> Any:
        """A redacted JSON-like copy: dicts and lists are new, tuples and sets become lists, other leaves are kept.

        The input is untouched. None stays None.

        >>> Redactor().redact([{"token": None}, ("a", "Authorization: Bearer " + "q7W3" * 5)])
        [{'token': None}, ['a', 'Authorization: Bearer [REDACTED]']]
        """
        return self._road.copy(value)

    def redact_text(self, text: str) -> str:
        """The text without secrets.

        >>> Redactor().redact_text("postgres://app:s3cr3t-pw@db/main is down")
        'postgres://app:[REDACTED]@db/main is down'
        """
        return self.scrub(text, None)

    def is_secret_key(self, key: str) -> bool:
        """Does a value under this key go whole?

        >>> [Redactor().is_secret_key(key) for key in ("X-Api-Key", "dbPassword", "max_tokens", "author")]
        [True, True, False, False]
        """
        return self._keys.rank(key) == STRONG

    def redact_json(self, data: bytes, *, found: list[str] | None = None, breathe: Callable[[], None] | None = None) -> bytes:
        """Redact compact JSON bytes; the same object comes back when nothing changed.

        Args:
            data: Valid UTF-8 JSON as orjson writes it.
            found: Receives the values that were removed, for the carry-over.
            breathe: Called between slices of work, so that other threads get their turn.
        """
        return self._road.redact(data, found, breathe)

    def redact_head(self, data: bytes, limit_chars: int) -> str:
        """The first characters of the redacted JSON text, given the first bytes of it (`", "` and `": "` as separators).

        A value, key or word that the end of `data` cuts is dropped, never shown in part.
        """
        return self._engine.redact_head(self, data, limit_chars)

    def scrub(self, text: str, found: list[str] | None, breathe: Callable[[], None] | None = None) -> str:
        """`redact_text` of the built-in class, with the removed values appended to `found`."""
        data = text.encode("utf-8", "surrogatepass")
        changed = self.scrub_bytes(data, found, breathe)
        return text if changed is data else changed.decode("utf-8", "surrogatepass")

    def scrub_extra(self, text: str, found: list[str] | None) -> str:
        """`scrub` by the host's patterns and personal data only."""
        if not self.rules.may_hold_more(text):
            return text
        data = text.encode("utf-8", "surrogatepass")
        spans = self.rules.extra_spans(data)
        return cut_out(data, spans, self.replacement.encode(), found).decode("utf-8", "surrogatepass") if spans else text

    def scrub_bytes(self, data: bytes, found: list[str] | None, breathe: Callable[[], None] | None = None) -> bytes:
        """`scrub` on UTF-8 bytes; the same object when nothing changed."""
        if len(data) < 6:
            return data
        spans = [span for span in self.rules.spans(data, breathe) if data[span[0] : span[1]] != self.replacement.encode()]
        return cut_out(data, spans, self.replacement.encode(), found) if spans else data

    def key_rank(self, key: str) -> int:
        """PLAIN, WEAK or STRONG, by the built-in rules."""
        return self._keys.rank(key)

    def redacted(self, value: Any, found: list[str] | None) -> Any:
        """`redact`, a subclass's included, with the removed values appended to `found`."""
        if type(self).redact is Redactor.redact:
            return self.walk(found).value(value)
        redacted = self.redact(value)
        if found is not None:
            self._engine.lost(value, redacted, found)
        return redacted

    def walk(self, found: list[str] | None, text: Callable[[str], str] | None = None, report: Report | None = None) -> Walk:
        """A structure walk by this redactor's methods, a subclass's included."""
        rank = self._keys.rank
        if type(self).is_secret_key is not Redactor.is_secret_key:
            rank = lambda key: STRONG if self.is_secret_key(key) else PLAIN  # noqa: E731 - a def would not read better
        return self._engine.Walk(text or self._text(found), rank, self.replacement, self.max_depth, found, report)

    def _text(self, found: list[str] | None) -> Callable[[str], str]:
        if found is None:
            return self.redact_text
        if type(self).redact_text is Redactor.redact_text:
            return lambda text: self.scrub(text, found)
        return lambda text: self._engine.noted(self.redact_text, text, found)


def _names(names: Iterable[str] | str | None) -> tuple[str, ...]:
    return () if names is None else (names,) if isinstance(names, str) else tuple(names)


def _patterns(patterns: Iterable[Pattern] | Pattern | None) -> list[Pattern]:
    return [] if patterns is None else [patterns] if isinstance(patterns, (str, re.Pattern)) else list(patterns)
