"""One JSON-safe rule for arguments, results, identity, extra and attrs, and the sizes that go with it.

The rule: NaN and infinities become `nan`, `inf`, `-inf`; dates and times ISO 8601; bytes and other types
`str(value)`; sets lists; integers beyond 64 bits keep their digits; NUL and lone surrogates are escaped as visible
text; cycles are cut; keys become strings. Ordinary values take the fast road (orjson, in C); a value that the fast
encoder would render otherwise is noticed and walked in Python.
"""

from __future__ import annotations

import json
import marshal
import re
from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any, Final

import orjson

MAX_DEPTH: Final = 250
_MAX_INT_BITS: Final = 14_000
_WORD: Final = 1 << 63
CUT_DEPTH: Final = "[TRUNCATED]"
CUT_CYCLE: Final = "[CYCLE]"

# Little-endian top bytes of NaN and the infinities in marshal's float format.
_NON_FINITE = (b"\xf8\x7f", b"\xf0\x7f", b"\xf0\xff", b"\xf8\xff")
_MARSHAL_VERSION = 2  # the last one without back references: faster, and floats stay binary
_NUL = b"\\u0000"
_BIG_INT = re.compile(rb"\d{19}")
_SIZE_CHUNK = 1 << 16


class Encoded:
    """Compact UTF-8 JSON of a value, with its size as `json.dumps(value, default=str)` and the value on demand.

    `size` is in bytes; None when `json.dumps` would refuse the value. Immutable apart from its two caches.
    """

    __slots__ = ("_size", "_value", "data")

    def __init__(self, data: bytes, size: int | None = -1) -> None:
        self.data = data
        self._size = size
        self._value: Any = self

    @property
    def size(self) -> int | None:
        """Bytes of `json.dumps(value, default=str)`, counted from the compact text when first asked."""
        if self._size == -1:
            self._size = json_size(self.data)
        return self._size

    def decode(self) -> Any:
        """The JSON value, decoded once."""
        if self._value is self:
            self._value = loads(self.data)
        return self._value

    def __repr__(self) -> str:
        return f"Encoded({len(self.data)} bytes)"


def loads(data: bytes | str) -> Any:
    """Decode JSON; integers beyond 64 bits keep their digits (orjson alone would make them floats)."""
    raw = data.encode() if isinstance(data, str) else data
    if _BIG_INT.search(raw):
        return json.loads(raw)
    return orjson.loads(raw)


def encode(value: Any) -> Encoded:
    """Encode any value by the rule above. Never raises; the value is not changed."""
    try:
        data = orjson.dumps(value)
        if needs_care(data, marshal.dumps(value, _MARSHAL_VERSION)):
            return encode_slowly(value)
    except Exception:  # noqa: BLE001 - a fast encoder refused: the slow one takes everything
        return encode_slowly(value)
    return Encoded(data)


def encode_flat(value: dict[str, Any]) -> Encoded:
    """Like `encode`, cheapest for a small dict of plain values, as most arguments are."""
    for item in value.values():
        if type(item) not in _PLAIN:
            return encode(value)
    try:
        data = orjson.dumps(value)
    except Exception:  # noqa: BLE001 - see encode
        return encode_slowly(value)
    return encode_slowly(value) if _NUL in data else Encoded(data)


_PLAIN = frozenset({str, int, bool, type(None)})


def encode_json_value(value: Any) -> Encoded:
    """Encode a value that holds JSON types only: like `encode`, but looks closer only where a null or NUL stands."""
    try:
        data = orjson.dumps(value)
        if _NUL in data or (b"null" in data and needs_care(data, marshal.dumps(value, _MARSHAL_VERSION))):
            return encode_slowly(value)
    except Exception:  # noqa: BLE001 - see encode
        return encode_slowly(value)
    return Encoded(data)


def needs_care(data: bytes, packed: bytes) -> bool:
    """Does the fast encoding differ from the rule? `packed` is marshal's form, which keeps what `null` hides."""
    return _NUL in data or (b"null" in data and any(mark in packed for mark in _NON_FINITE))


def encode_slowly(value: Any) -> Encoded:
    """The Python road of `encode`, for values that a JSON encoder refuses or would render otherwise."""
    return Encoded(dump_safe(to_safe(value)), _dumps_size(value))


def dump_safe(safe: Any) -> bytes:
    """Compact JSON bytes of a value that `to_safe` made."""
    try:
        return orjson.dumps(safe)
    except (TypeError, ValueError):  # integers beyond 64 bits
        return json.dumps(safe, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


def _dumps_size(value: Any) -> int | None:
    try:
        return len(json.dumps(value, default=str))
    except Exception:  # noqa: BLE001 - cycles, depth, odd keys, a failing __str__: there is no size then
        return None


def to_safe(value: Any, depth: int = 0, inside: tuple[int, ...] = ()) -> Any:  # noqa: C901, PLR0911 - one line for each type of the rule
    """The value made of dict, list, str, int, float, bool and None only, by the module's rule."""
    kind = type(value)
    if value is None or kind is bool or (kind is int and -_WORD < value < _WORD):
        return value
    if isinstance(value, str):
        return clean_text(str.__str__(value))
    if isinstance(value, float):
        number = float(value)
        return number if number - number == 0.0 else str(number)
    if isinstance(value, int):
        bits = value.bit_length()  # beyond its limit Python refuses to write the digits
        return int(value) if bits <= _MAX_INT_BITS else f"<integer of {bits} bits>"
    if isinstance(value, (Mapping, list, tuple, set, frozenset)):
        if depth >= MAX_DEPTH:
            return CUT_DEPTH
        if id(value) in inside:
            return CUT_CYCLE
        inside = (*inside, id(value))
        try:
            if isinstance(value, Mapping):
                return {_key(k): to_safe(v, depth + 1, inside) for k, v in list(value.items())}
            return [to_safe(v, depth + 1, inside) for v in list(value)]
        except Exception:  # noqa: BLE001 - a foreign container whose iteration fails
            return _text(value)
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    return _text(value)


def _key(key: Any) -> str:
    return clean_text(str.__str__(key)) if isinstance(key, str) else _text(key)


def _text(value: Any) -> str:
    try:
        return clean_text(str(value))
    except Exception:  # noqa: BLE001 - a foreign __str__
        return f"<unprintable {type(value).__name__}>"


def clean_text(text: str) -> str:
    """The text with NUL and lone surrogates as visible escapes, so that every store and encoder takes it."""
    if "\0" in text:
        text = text.replace("\0", "\\u0000")
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def json_size(data: bytes) -> int:
    r"""Bytes that `json.dumps` with its default separators and ASCII escapes makes of compact JSON text.

    Adds one for every `,` and `:` outside strings, and what `\uXXXX` escapes add to raw UTF-8. Works in chunks of
    64 KiB so that the interpreter is never held long.
    """
    if len(data) <= _SIZE_CHUNK and b"\\" not in data and b"\x7f" not in data and data.isascii():
        # Two quotes side by side are a string without separators in it: what is left to split is mostly short.
        rest = data.translate(None, _NOT_STRUCTURE).replace(b'""', b"")
        return len(data) + (len(b"".join(rest.split(b'"')[::2])) if b'"' in rest else len(rest))
    extra, inside, start, end = 0, False, 0, len(data)
    while start < end:
        stop = min(start + _SIZE_CHUNK, end)
        while stop < end and data[stop - 1] == 0x5C:  # never cut an escape in two
            stop += 1
        added, inside = _separators(data[start:stop], inside)
        extra += added
        start = stop
    return end + extra


def _separators(chunk: bytes, inside: bool) -> tuple[int, bool]:
    """Extra bytes of one chunk and whether it ends inside a string. A chunk never ends in a backslash."""
    added = 0 if chunk.isascii() else _escape_growth(chunk)
    if b"\x7f" in chunk:
        added += 5 * chunk.count(b"\x7f")
    if b"\\" in chunk:
        chunk = chunk.replace(b"\\\\", b"").replace(b'\\"', b"")
    parts = chunk.translate(None, _NOT_STRUCTURE).split(b'"')
    outside = b"".join(parts[1::2] if inside else parts[::2])
    return added + len(outside), inside ^ (len(parts) % 2 == 0)


_NOT_STRUCTURE = bytes(b for b in range(256) if b not in b'",:')
_LEAD_BYTES = {
    # class of UTF-8 lead byte -> (bytes that are NOT of the class, growth when escaped as \uXXXX)
    growth: bytes(b for b in range(256) if not low <= b <= high)
    for low, high, growth in ((0xC2, 0xDF, 4), (0xE0, 0xEF, 3), (0xF0, 0xF4, 8))
}


def _escape_growth(chunk: bytes) -> int:
    return sum(growth * len(chunk.translate(None, others)) for growth, others in _LEAD_BYTES.items())
