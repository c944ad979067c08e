"""Where containers begin and end in JSON bytes whose escapes are blanked, so that each `"` opens or closes a string."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from .shapes import SLICE

_UNICODE_ESCAPE: Final = re.compile(rb"\\u[0-9a-fA-F]{4}")
_ESCAPE: Final = re.compile(rb"\\[^u]")
_BRACKET: Final = re.compile(rb"[{}\[\]]")
_SCALAR: Final = re.compile(rb"[^,}\]]*")
_SEPARATORS: Final = frozenset((b",", b":", b""))
_OPENING: Final = frozenset(b"{[")
_ROUND: Final = bytes.maketrans(b"{}", b"[]")
_NO_MARK: Final = bytes(byte for byte in range(256) if byte not in b'"[]{}')
_SMALL: Final = 4_096


def mask_escapes(data: bytes, breathe: Callable[[], None] | None) -> bytes:
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


def value_end(masked: bytes, at: int) -> int:
    """The end of the value that begins at `at`; -1 when the text ends first.

    >>> value_end(b'{"a":[1,"]"],"b":"x"}', 5), value_end(b'{"a":12}', 5), value_end(b'["x"]', 1)
    (12, 7, 4)
    """
    first = masked[at : at + 1]
    if first == b'"':
        return masked.find(b'"', at + 1) + 1 or -1
    if first in {b"{", b"["}:
        return _closing(masked, at, 0)
    scalar = _SCALAR.match(masked, at)
    return scalar.end() if scalar else -1


def enclosing(masked: bytes, at: int) -> tuple[int, int] | None:
    """Start and end of the innermost container around the string that opens at `at`; None when there is none.

    >>> enclosing(b'{"a":[{"b":"c"},"d"]}', 11), enclosing(b'{"a":[{"b":"c"},"d"]}', 16)
    ((6, 15), (5, 20))
    """
    start = _opening(masked, at)
    end = _closing(masked, at, 1) if start >= 0 else -1
    return (start, end) if end >= 0 else None


def outermost(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those that lie in no other, in order.

    >>> outermost([(5, 9), (2, 4), (3, 4), (5, 6)])
    [(2, 4), (5, 9)]
    """
    out: list[tuple[int, int]] = []
    for start, stop in sorted(ranges, key=lambda place: (place[0], -place[1])):
        if not out or start >= out[-1][1]:
            out.append((start, stop))
    return out


def _closing(masked: bytes, at: int, depth: int) -> int:
    """The place behind the bracket that closes the outermost of `depth` open containers, or of the one that opens here."""
    while True:
        quote = masked.find(b'"', at)
        stop = quote if quote >= 0 else len(masked)
        if masked[at : min(stop, at + 2)] not in _SEPARATORS:
            for place in _brackets(masked, at, stop):
                depth += 1 if masked[place] in _OPENING else -1
                if depth == 0:
                    return place + 1
        at = masked.find(b'"', quote + 1) + 1 if quote >= 0 else 0
        if at == 0:
            return -1


def _opening(masked: bytes, at: int) -> int:
    """The bracket that opens the container around `at`."""
    depth = 1
    while True:
        quote = masked.rfind(b'"', 0, at)
        if masked[max(quote + 1, at - 2) : at] not in _SEPARATORS:
            for place in reversed(list(_brackets(masked, quote + 1, at))):
                depth += -1 if masked[place] in _OPENING else 1
                if depth == 0:
                    return place
        at = masked.rfind(b'"', 0, quote) if quote >= 0 else -1
        if at < 0:
            return -1


def _brackets(masked: bytes, start: int, stop: int) -> Iterator[int]:
    for at in range(start, stop, SLICE):
        for found in _BRACKET.finditer(masked, at, min(at + SLICE, stop)):
            yield found.start()


def deeper_than(masked: bytes, limit: int, breathe: Callable[[], None] | None = None) -> bool:
    """May containers stand deeper than this, the outermost at depth 0? Sure when it says no.

    >>> deeper_than(b"[" * 40 + b"]" * 40, 32), deeper_than(b'[["[[[["],{"a":[]}]' + b" " * 80, 2)
    (True, False)
    """
    size = len(masked)
    if size <= 2 * limit or (size <= _SMALL and masked.count(b"[") + masked.count(b"{") <= limit):
        return False
    if size <= SLICE:
        marks, early = _marks(masked)[0], 0
    else:
        marks, early = _marks_in_slices(masked, limit, breathe)
    levels = limit + 1 - early
    for _ in range(levels):
        if len(marks) <= 2 * levels:  # each level takes two
            return False
        marks = marks.replace(b"[]", b"")
        levels -= 1
    return bool(marks)


def _marks(part: bytes) -> tuple[bytes, bool]:
    """The brackets outside strings, all of them as `[` and `]`; and whether the part ends inside a string."""
    marks = part.translate(_ROUND, _NO_MARK).replace(b'""', b"")
    if b'"' not in marks:
        return marks, False
    pieces = marks.split(b'"')
    return b"".join(pieces[::2]), len(pieces) % 2 == 0


def _marks_in_slices(masked: bytes, limit: int, breathe: Callable[[], None] | None) -> tuple[bytes, int]:
    """The same for a long text; of each slice the innermost containers are dropped at once, so many levels of them."""
    early = min(4, limit // 8)
    parts: list[bytes] = []
    inside = False
    for at in range(0, len(masked), SLICE):
        part = masked[at : at + SLICE]
        marks, inside = _marks(b'"' + part if inside else part)
        for _ in range(early):
            marks = marks.replace(b"[]", b"")
        parts.append(marks)
        if breathe is not None:
            breathe()
    return b"".join(parts), early
