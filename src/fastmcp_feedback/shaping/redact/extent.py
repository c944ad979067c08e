"""Where does a value in a text end? Quoted, escaped and bare values, without backtracking."""

from __future__ import annotations

import re
from typing import Final

MAX_VALUE: Final = 8_192
_QUOTE: Final = re.compile(rb"""\\{0,15}["'`]|%22|%27|&quot;|&#34;|\xe2\x80[\x9c\x9d\x98\x99]|\xc2[\xab\xbb]""")
_CLOSING: Final = {b"\xe2\x80\x9c": b"\xe2\x80\x9d", b"\xe2\x80\x98": b"\xe2\x80\x99", b"\xc2\xab": b"\xc2\xbb"}
_BARE: Final = re.compile(rb"""[^\s"'`<>,;&|(){}\[\]\\\x00-\x1f]+""")
_NEXT_PAIR: Final = re.compile(rb"[ \t]{0,4}[\"']?[A-Za-z_][\w.\- ]{0,40}[\"']?[ \t]{0,4}[=:]")
_NEXT_QUERY: Final = re.compile(rb"&|(?:amp;)?[\w.\-\[\]%]{1,60}=")
_WORDY_REST: Final = re.compile(rb"[A-Za-z]*|\d*")
_REST: Final = re.compile(rb"[^\s\"'`<>,;&|(){}\[\]\\]{0,200}")
_TAG: Final = re.compile(rb"/|[A-Za-z!?]")
_UNICODE_STOPS: Final = re.compile(rb"\xe2\x80[\x9c\x9d\x98\x99\xa6]|\xe3\x80[\x80-\x91]|\xef\xbc[\x8c\x9b]|\xc2[\xa0\xab\xbb]")
_OPENING: Final = {0x29: b"(", 0x7D: b"{", 0x5D: b"["}


def quoted(data: bytes, at: int) -> tuple[int, int] | None:
    """Start and end of the text between the quote at `at` and its partner, or None when there is no quote or no partner."""
    quote = _QUOTE.match(data, at)
    if quote is None:
        return None
    mark = quote[0]
    if mark in (b'"', b"'") and data[at : at + 3] == mark * 3:
        mark *= 3
    start = at + len(mark)
    closing = _CLOSING.get(mark, mark)
    end = data.find(closing, start, start + MAX_VALUE)
    while end > 0 and _is_escaped(data, end, closing):
        end = data.find(closing, end + len(closing), start + MAX_VALUE)
    if end < 0:
        return None
    return start, end


def _is_escaped(data: bytes, at: int, closing: bytes) -> bool:
    """Is the mark found at `at` preceded by more backslashes than it begins with?"""
    if closing[-1] not in b"\"'`":
        return False
    extra = 0
    while data[at - 1 - extra] == 0x5C:
        extra += 1
    return extra % 2 == 1 if closing[0] != 0x5C else extra > 0


def opening(data: bytes, at: int) -> int:
    """Length of the quote at `at`, 0 when there is none."""
    quote = _QUOTE.match(data, at)
    return quote.end() - at if quote else 0


def bare(data: bytes, start: int, most: int = MAX_VALUE) -> int:
    """The end of the unquoted value that begins at `start`, at most so many bytes on."""
    at, limit = start, min(len(data), start + most)
    while at < limit:
        piece = _BARE.match(data, at, limit)
        if piece:
            wide = _UNICODE_STOPS.search(data, at, piece.end()) if not piece[0].isascii() else None
            if wide:
                return wide.start()
            at = piece.end()
        if at >= limit or _stops(data, start, at):
            return at
        at += 2 if data[at] == 0x5C else 1
    return min(at, limit)


def _stops(data: bytes, start: int, at: int) -> bool:
    """Does the value that began at `start` end before the special character at `at`?"""
    char = data[at]
    rest = data[at + 1 : at + 2]
    if char <= 0x20:
        return True
    if char in b"\"'`":
        return not rest.isalnum() or at == start
    if char == 0x5C:
        return rest in {b"n", b"r", b"t", b'"', b"'", b"\\", b"/", b""}
    if char in b",;&|":
        return _parts(data, at)
    if char in b"<>":
        return not rest or (char == 0x3C and _TAG.match(rest) is not None) or (char == 0x3E and not rest.isalnum())
    if char in b"({[":
        return False
    if _OPENING[char] in data[start:at]:
        return False
    return not rest or rest.isspace() or not (rest.isalnum() or rest in b"!#$%^*@~+-_=")


def _parts(data: bytes, at: int) -> bool:
    """Is the `,`, `;`, `&` or `|` at `at` a separator, or part of a password?"""
    rest = data[at + 1 : at + 2]
    if not rest or rest.isspace() or rest in b"\"'`)]}>,;|\\":
        return True
    if data[at] == 0x26:
        return _NEXT_QUERY.match(data, at + 1) is not None
    if _NEXT_PAIR.match(data, at + 1):
        return True
    tail = _REST.match(data, at + 1)
    return tail is None or _WORDY_REST.fullmatch(tail[0]) is not None
