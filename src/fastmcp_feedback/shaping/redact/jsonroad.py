"""Redaction of JSON bytes without decoding what is clean.

The passes of the text rules run over the raw bytes, with escapes blanked out. Only a string that holds a candidate is
decoded; only a document with a secret key (or a name, flag or pair that may be one) is decoded whole and walked.
"""

from __future__ import annotations

import marshal
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import orjson

from ...jsonsafe import dump_safe, loads, needs_care
from .keys import PLAIN
from .shapes import SLICE, Buffer
from .stems import key_places
from .walk import NAME_FIELDS

if TYPE_CHECKING:
    from .redactor import Redactor

_STRICT: Final = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b'"[]{}')
_UNICODE_ESCAPE: Final = re.compile(rb"\\u[0-9a-fA-F]{4}")
_ESCAPE: Final = re.compile(rb"\\[^u]")
_MAX_KEY: Final = 200
_MAX_NAME: Final = 64
_NAME_MARKS: Final = tuple(f'"{name}":'.encode() for name in (*NAME_FIELDS, "type"))
_VALUE_MARK: Final = b'alue":'  # the end of every name in `walk.VALUE_FIELDS`
_BIG: Final = SLICE * 4
_PIN: Final = b'pin":'


class JsonRoad:
    """The fast road of one redactor."""

    __slots__ = ("_redactor", "_straight")

    def __init__(self, redactor: Redactor, *, straight: bool) -> None:
        self._redactor = redactor
        self._straight = straight  # the built-in methods and rules only: candidates can be found in the raw bytes

    def copy(self, value: Any) -> Any:
        """`Redactor.redact` of any value."""
        if self._straight and isinstance(value, (dict, list)):
            data, copy = _plain_json(value)
            if data is not None:
                changed = self.redact(data, None, None)
                return copy if changed is data else orjson.loads(changed)
        return self._redactor.walk(None).value(value)

    def redact(self, data: bytes, found: list[str] | None, breathe: Callable[[], None] | None) -> bytes:
        """`Redactor.redact_json`."""
        if not self._straight:
            value = loads(data)
            return _differing(data, value, self._redactor.redacted(value, found))
        return _Document(self._redactor, data, found, breathe).redacted()


class _Document:
    """One JSON text on its way through."""

    __slots__ = ("_before", "_breathe", "_changes", "_data", "_found", "_has_values", "_redactor", "_walk")

    def __init__(self, redactor: Redactor, data: bytes, found: list[str] | None, breathe: Callable[[], None] | None) -> None:
        self._redactor = redactor
        self._data = data
        self._found = found
        self._before = 0 if found is None else len(found)
        self._breathe = breathe
        self._changes: list[tuple[int, int, str, str]] = []
        self._has_values: bool | None = None
        self._walk = False

    def redacted(self) -> bytes:
        """The bytes without secrets."""
        data = self._data
        masked = _masked(data, self._breathe)
        # Patterns of the host and personal data may stand anywhere, in numbers too.
        self._walk = not self._redactor.rules.plain or _deeper_than(masked, self._redactor.max_depth)
        done = 0
        for place, end in self._places(Buffer.of(masked, self._breathe)):
            if place >= done:
                start, stop = masked.rfind(b'"', done, place) + 1, masked.find(b'"', place)
                if start > 0 and stop >= 0 and self._string(start, stop, place, end):
                    done = stop + 1
        if self._walk:
            return self._walked()
        return _spliced(data, self._changes) if self._changes else data

    def _string(self, start: int, stop: int, place: int, end: int) -> bool:
        """Look at the string `start..stop` (quotes not included); False when the secret word at `place..end` announces nothing."""
        data = self._data
        raw = data[start:stop]
        escaped = b"\\" in raw
        is_key = data[stop + 1 : stop + 2] == b":"
        if end and not is_key and not escaped:
            if not self._walk and len(raw) <= _MAX_NAME:
                self._walk = self._names_a_secret(start, stop, raw.decode(), is_key=False)
            if end == stop or not self._redactor.rules.pairs.at(raw, place - start, end - start):
                return False
        text = str(orjson.loads(data[start - 1 : stop + 1])) if escaped else raw.decode()
        self._walk = self._walk or self._names_a_secret(start, stop, text, is_key=is_key)
        changed = self._redactor.scrub(text, None if self._walk else self._found, self._breathe)
        if changed is not text:
            self._changes.append((start, stop, text, changed))
            self._walk = self._walk or is_key
        elif self._walk:
            self._changes.append((start, stop, text, text))
        return True

    def _names_a_secret(self, start: int, stop: int, text: str, *, is_key: bool) -> bool:
        """Is this a secret key, or a name, flag or header that makes its neighbour one?"""
        if is_key:
            return len(text) <= _MAX_KEY and self._redactor.key_rank(text) != PLAIN
        if len(text) > _MAX_NAME or self._redactor.key_rank(text.lstrip("-")) == PLAIN:
            return False
        before = self._data[max(0, start - 16) : start - 1]
        if before.endswith(b":"):
            return text == "Secret" or (before.endswith(_NAME_MARKS) and self._holds_values())
        return text.startswith("-") or (before.endswith(b"[") and self._data[stop + 1 : stop + 2] == b",")

    def _holds_values(self) -> bool:
        """Has any object here a field that a name can belong to?"""
        if self._has_values is None:
            self._has_values = _VALUE_MARK in self._data
        return self._has_values

    def _walked(self) -> bytes:
        """Decode all and walk; the texts with candidates were already looked at."""
        redactor, found = self._redactor, self._found
        changes = {text: changed for _start, _stop, text, changed in self._changes}
        plain = redactor.rules.plain
        if found is not None:
            del found[self._before :]  # the walk finds them all again

        def text(value: str) -> str:
            changed = changes.get(value)
            if changed is None:
                return value if plain else redactor.scrub_extra(value, found)
            if changed is not value and found is not None:
                redactor.scrub(value, found)
            return changed

        value = loads(self._data)
        return _differing(self._data, value, redactor.walk(found, text).value(value))

    def _places(self, buffer: Buffer) -> Iterator[tuple[int, int]]:
        """Where candidates stand, in order; with the end of a secret word, or 0 for a shape."""
        rules = self._redactor.rules
        masked, low = buffer.data, buffer.low
        rank = rules.pairs.rank
        for start, stop in buffer.slices():
            places = [(span[0], 0) for span in rules.shapes(buffer, start, stop)]
            for begin, end in key_places(buffer, start, stop, rules.own):
                key = masked[begin:end]
                if rank(key) or rank(key.lstrip(b"-")) or key.lower() in _SPECIAL:
                    places.append((begin, end))
            at = low.find(_PIN, start, stop + 8)
            while at >= 0:
                places.append((at, 0))
                at = low.find(_PIN, at + 4, stop + 8)
            if not buffer.ascii:
                places += [(at, 0) for at in rules.foreign(masked, start, stop)]
            places.sort()
            yield from places
            if self._breathe is not None:
                self._breathe()


def _differing(data: bytes, value: Any, redacted: Any) -> bytes:
    """The redacted value's bytes, or `data` itself when nothing changed."""
    return data if redacted == value and repr(redacted) == repr(value) else dump_safe(redacted)


def _spliced(data: bytes, changes: list[tuple[int, int, str, str]]) -> bytes:
    out: list[bytes] = []
    at = 0
    for start, stop, _text, changed in changes:
        out += (data[at:start], orjson.dumps(changed)[1:-1])
        at = stop
    out.append(data[at:])
    return b"".join(out)


def _special(masked: bytes, begin: int, end: int) -> bool:
    """Names that matter together with the word before or after them: `API key`, `Bearer x`, `Cookie:`."""
    return masked[begin:end].lower() in _SPECIAL


_SPECIAL: Final = frozenset(
    (b"key", b"keys", b"code", b"codes", b"string", b"strings", b"header", b"phrase", b"hash", b"connection", b"conn")
)


def _plain_json(value: Any) -> tuple[bytes | None, Any]:
    """JSON bytes of a value made of JSON types only, and a copy of the value; (None, None) for any other."""
    try:
        data = orjson.dumps(value, option=_STRICT)
        copy = orjson.loads(data)
        # A tuple is not equal to the list that it becomes, NaN not to null: those are looked at more closely.
        if copy == value or not needs_care(data, marshal.dumps(value, 2)):
            return data, copy
    except (TypeError, ValueError, RecursionError):
        pass
    return None, None


def _masked(data: bytes, breathe: Callable[[], None] | None) -> bytes:
    """The same bytes with every escape blanked, so that each `"` left opens or closes a string."""
    if b"\\" not in data:
        return data
    if len(data) <= SLICE:
        return _mask_slice(data)
    parts: list[bytes] = []
    start, size = 0, len(data)
    while start < size:
        stop = min(start + SLICE, size)
        while stop < size and data[stop - 1] == 0x5C:  # never cut an escape in two
            stop += 1
        parts.append(_mask_slice(data[start:stop]))
        start = stop
        if breathe is not None:
            breathe()
    return b"".join(parts)


def _mask_slice(data: bytes) -> bytes:
    data = data.replace(b"\\\\", b"  ").replace(b'\\"', b"  ").replace(b"\\n", b"  ")
    if b"\\" not in data:
        return data
    if b"\\u" in data:
        data = _UNICODE_ESCAPE.sub(b"      ", data)
    return _ESCAPE.sub(b"  ", data)


def _deeper_than(masked: bytes, limit: int) -> bool:
    """Are containers nested deeper than this?"""
    if len(masked) <= 2 * limit:
        return False
    marks = b"".join(masked[at : at + _BIG].translate(None, _BRACKETS) for at in range(0, len(masked), _BIG)).replace(b'""', b"")
    if b'"' in marks:
        marks = b"".join(marks.split(b'"')[::2])
    for _ in range(limit + 1):
        if not marks:
            return False
        marks = marks.replace(b"[]", b"").replace(b"{}", b"")
    return bool(marks)
