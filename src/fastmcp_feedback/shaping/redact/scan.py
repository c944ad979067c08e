"""Everything that must go from one text: a few linear passes find candidates, and only those are looked at closely.

All of it works on UTF-8 bytes, in slices, so that no single call holds the interpreter for more than a millisecond.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from . import blocks, pii, tokens, urls
from .keys import KeyRules
from .pairs import PairRules
from .patterns import HostPattern, host_spans
from .spans import Span, merge
from .tokens import RUN_CLASS

SLICE: Final = 48_000
_MAX_WRAPS: Final = 2
# One character of a secret word is rare enough to be searched for in C; the rest is checked where it stands.
_STEMS_BY_REGEX: Final = (re.compile(rb"k(?:ey|en|ie)"), re.compile(rb"w(?:d|or[dt]|t|oord)"))
_STEMS: Final = (b"pass", b"secret", b"cred", b"auth", b"bearer", b"sess", b"basic", b"code", b"otp", b"sid=", b"signature", b"sas")
_ALL_STEMS: Final = re.compile(rb"k(?:ey|en|ie)|w(?:d|or[dt]|t|oord)|pass|secret|cred|auth|bearer|sess|basic|code|otp|sid=|s(?:ignature|as)|cvv|mnemonic|psk|phrase|conn")
_LATE_STEMS: Final = (b"cvv", b"mnemonic", b"psk", b"phrase", b"conn")
_SHORT: Final = 2_048
_OVERLAP: Final = 16
_FOREIGN: Final = re.compile("contraseña|пароль|密码|密碼|口令|パスワード|비밀번호|clave|motdepasse".encode())
_FOREIGN_LINK: Final = re.compile("[\"'`”]?[ \t]{0,4}(?:[:=]|：|是|は|は:)[ \t]{0,4}".encode())
_KEY_CHARS: Final = 80


class TextRules:
    """The text policy of one redactor."""

    __slots__ = ("_groups", "_host", "_own", "_shapes", "pairs")

    def __init__(self, keys: KeyRules, host: tuple[HostPattern, ...], groups: tuple[str, ...], *, shapes: bool) -> None:
        self.pairs = PairRules(keys)
        self._host = host
        self._groups = groups
        self._shapes = shapes
        self._own = _own_stems(keys.custom)

    def spans(self, data: bytes, breathe: Callable[[], None] | None = None, depth: int = 0) -> list[Span]:
        """Merged places that must go."""
        out = self.candidates(data, breathe)
        if self._shapes and depth < _MAX_WRAPS and len(data) >= 32:
            for start, end, plain in blocks.wrapped(data):
                if self.spans(plain, breathe, depth + 1):
                    out.append((start, end, "base64-wrapped"))
        if self._host:
            out += host_spans(data, self._host)
        if self._groups:
            out += pii.spans(data, self._groups)
        return merge(out) if out else out

    def candidates(self, data: bytes, breathe: Callable[[], None] | None = None) -> list[Span]:
        """The built-in rules, slice by slice."""
        size = len(data)
        if size <= SLICE:
            return self._slice(data, data.translate(RUN_CLASS), data.lower(), 0, size)
        out: list[Span] = []
        classes = _in_slices(data, RUN_CLASS, breathe)
        low = _in_slices(data, _LOWER, breathe)
        for start in range(0, size, SLICE):
            out += self._slice(data, classes, low, start, min(size, start + SLICE))
            if breathe is not None:
                breathe()
        return out

    def _slice(self, data: bytes, classes: bytes, low: bytes, start: int, stop: int) -> list[Span]:
        out: list[Span] = []
        if self._shapes:
            out += _shapes(data, classes, low, start, stop)
            for mark, size in _marks(data, start, stop):
                out += urls.at(data, mark, size, self.pairs)
        out += self._pairs(data, classes, low, start, stop)
        if not data.isascii():
            out += _foreign(data, start, stop)
        return out

    def _pairs(self, data: bytes, classes: bytes, low: bytes, start: int, stop: int) -> list[Span]:
        out: list[Span] = []
        done = -1
        size = len(data)
        for hit in self._stems(low, start, stop):
            if hit < done:
                continue
            begin = classes.rfind(b" ", max(0, hit - _KEY_CHARS), hit) + 1
            begin = max(begin, hit - _KEY_CHARS)
            end = classes.find(b" ", hit)
            done = end = size if end < 0 else end
            if end - begin > _KEY_CHARS:
                continue
            found = self.pairs.at(data, begin, end)
            if found:
                out += found
                done = max(done, found[-1][1])
        return out

    def _stems(self, low: bytes, start: int, stop: int) -> list[int]:
        """Where secret words stand, in order."""
        limit = min(len(low), stop + _OVERLAP)
        if stop - start <= _SHORT:
            hits = [found.start() for found in _ALL_STEMS.finditer(low, start, limit)]
        else:
            hits = [found.start() for regex in _STEMS_BY_REGEX for found in regex.finditer(low, start, limit)]
            for stem in (*_STEMS, *_LATE_STEMS):
                at = low.find(stem, start, limit)
                while at >= 0:
                    hits.append(at)
                    at = low.find(stem, at + 2, limit)
            hits.sort()
        if self._own is not None:
            hits += [found.start() for found in self._own.finditer(low, start, limit)]
            hits.sort()
        return hits


def _own_stems(names: tuple[str, ...]) -> re.Pattern[bytes] | None:
    from .keys import segments  # noqa: PLC0415 - only for hosts with keys of their own

    first = sorted({words[0] for name in names if (words := segments(name))}, key=len, reverse=True)
    return re.compile(b"|".join(re.escape(word.encode()) for word in first)) if first else None


def _in_slices(data: bytes, table: bytes, breathe: Callable[[], None] | None) -> bytes:
    if breathe is None:
        return data.translate(table)
    parts = []
    for start in range(0, len(data), SLICE * 8):
        parts.append(data[start : start + SLICE * 8].translate(table))
        breathe()
    return b"".join(parts)


def _shapes(data: bytes, classes: bytes, low: bytes, start: int, stop: int) -> list[Span]:
    """Kinds by their shape: tokens, armour, hashes, commands."""
    out: list[Span] = []
    limit = min(len(data), stop + _OVERLAP)
    for begin, end in tokens.runs(classes, start, stop):
        found = tokens.match_run(data, begin, end) or tokens.match_infix(data, begin, end)
        if found is not None:
            out.append(found)
    at = data.find(b"-----BEGIN ", start, limit)
    while at >= 0:
        if (block := blocks.armour(data, at)) is not None:
            out.append(block)
            at = block[1]
        at = data.find(b"-----BEGIN ", at + 11, limit) if at + 11 < limit else -1
    if data.find(b"$", start, stop) >= 0:
        out += [(*found.span(), "password-hash") for found in blocks.CRYPT.finditer(data, start, stop + 200)]
    if data.find(b"Q~", start, limit) >= 0:
        out += [(*found.span(), "azure-client-secret") for found in tokens.AZURE_SECRET.finditer(data, max(0, start - 8), stop + 48)]
    at = low.find(b"identified ", start, limit)
    while at >= 0:
        out += blocks.sql(data, at)
        at = low.find(b"identified ", at + 10, limit)
    if data.find(b"Private-Lines", start, limit) >= 0:
        out += blocks.putty(data)
    out += blocks.commands(data, low, start, stop)
    return out


def _marks(data: bytes, start: int, stop: int) -> list[tuple[int, int]]:
    """Where URLs have their `://`, and how long that is (`:\\/\\/` in escaped JSON)."""
    out: list[tuple[int, int]] = []
    for mark in (b"://", b":\\/\\/"):
        at = data.find(mark, start, stop + len(mark))
        while at >= 0:
            out.append((at, len(mark)))
            at = data.find(mark, at + len(mark), stop + len(mark))
    return out


def _foreign(data: bytes, start: int, stop: int) -> list[Span]:
    """`密码：x`, `contraseña: x`: the words of other languages."""
    from .extent import bare, quoted  # noqa: PLC0415 - rare
    from .values import plausible  # noqa: PLC0415

    out: list[Span] = []
    for word in _FOREIGN.finditer(data, start, stop + _OVERLAP):
        link = _FOREIGN_LINK.match(data, word.end())
        if link is None:
            continue
        first, last = quoted(data, link.end()) or (link.end(), bare(data, link.end()))
        if plausible(data[first:last], firm=False):
            out.append((first, last, "secret-key-value"))
    return out


_LOWER: Final = bytes(byte + 32 if 0x41 <= byte <= 0x5A else byte for byte in range(256))
