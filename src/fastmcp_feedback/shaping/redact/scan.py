"""Everything that must go from one text: a few linear passes find candidates, and only those are looked at closely.

All of it works on UTF-8 bytes, in slices, so that no single call holds the interpreter for more than a millisecond.
"""

from __future__ import annotations

# ruff: noqa: RUF001, RUF002 - the colon of Chinese and Japanese texts
import re
from collections.abc import Callable
from typing import Final

from . import blocks, pii, urls
from .keys import KeyRules, segments
from .pairs import PairRules
from .patterns import HostPattern, host_spans
from .shapes import Buffer, shape_spans
from .spans import Span, merge, whole
from .stems import key_places

_MAX_WRAPS: Final = 2
_SHORT_TEXT: Final = 1_000
_DATA_MARK: Final = re.compile(r"@|[0-9][0-9]")
_FOREIGN: Final = re.compile("[Cc]ontraseña|CONTRASEÑA|пароль|Пароль|ПАРОЛЬ|密码|密碼|口令|パスワード|비밀번호".encode())
_FOREIGN_LINK: Final = re.compile("[\"'`”]?[ \t]{0,4}(?:[:=]|：|是|は)[ \t]{0,4}".encode())


class TextRules:
    """The text policy of one redactor."""

    __slots__ = ("_groups", "_host", "_shapes", "own", "pairs")

    def __init__(self, keys: KeyRules, host: tuple[HostPattern, ...], groups: tuple[str, ...], *, shapes: bool) -> None:
        self.pairs = PairRules(keys)
        self._host = host
        self._groups = groups
        self._shapes = shapes
        self.own = _own_stems(keys.custom)

    @property
    def plain(self) -> bool:
        """No patterns of the host and no personal data: numbers need no look."""
        return not self._host and not self._groups

    def spans(self, data: bytes, breathe: Callable[[], None] | None = None, depth: int = 0) -> list[Span]:
        """Merged places that must go."""
        buffer = Buffer.of(data, breathe)
        out: list[Span] = []
        for start, stop in buffer.slices():
            out += self._slice(buffer, start, stop, depth)
            if breathe is not None:
                breathe()
        if self._host:
            out += host_spans(data, self._host)
        if self._groups:
            # `password@host` of a URL is no address.
            taken = merge(out)
            out += [
                span
                for span in pii.spans(data, self._groups)
                if span[2] != "email" or not any(a < span[1] and span[0] < b for a, b, _rule in taken)
            ]
        return whole(data, merge(out)) if out else out

    def may_hold_more(self, text: str) -> bool:
        """A quick look: could the host's patterns or personal data be in this text?"""
        if self._groups and _DATA_MARK.search(text):
            return True
        return bool(self._host) and (len(text) > _SHORT_TEXT or any(pattern.compiled.search(text) for pattern in self._host))

    def extra_spans(self, data: bytes) -> list[Span]:
        """Only the host's patterns and personal data, for a text in which the other passes found nothing."""
        return whole(data, merge(host_spans(data, self._host) + pii.spans(data, self._groups)))

    def _slice(self, buffer: Buffer, start: int, stop: int, depth: int) -> list[Span]:
        out = self.shapes(buffer, start, stop, depth)
        done = 0
        for begin, end in key_places(buffer, start, stop, self.own):
            if begin >= done:
                found = self.pairs.at(buffer.data, begin, end)
                if found:
                    out += found
                    done = found[-1][1]
        if not buffer.ascii:
            out += _foreign(buffer.data, start, stop)
        return out

    @staticmethod
    def foreign(data: bytes, start: int, stop: int) -> list[int]:
        """Where words of other languages stand."""
        return [word.start() for word in _FOREIGN.finditer(data, start, min(len(data), stop + 16))]

    def shapes(self, buffer: Buffer, start: int, stop: int, depth: int = 0) -> list[Span]:
        """Kinds by shape, URLs and wrapped texts in one slice."""
        if not self._shapes:
            return []
        long_runs: list[int] = []
        out = shape_spans(buffer, start, stop, long_runs) + urls.spans(buffer.data, buffer.low, start, stop)
        if depth < _MAX_WRAPS:
            for begin in long_runs:
                wrapped = blocks.wrapped(buffer.data, begin)
                if wrapped is not None and self.spans(wrapped[2], None, depth + 1):
                    out.append((wrapped[0], wrapped[1], "base64-wrapped"))
        return out


def _own_stems(names: tuple[str, ...]) -> re.Pattern[bytes] | None:
    """What to look for in a text when the host has key names of its own."""
    first = sorted({words[0] for name in names if (words := segments(name))}, key=len, reverse=True)
    return re.compile(b"|".join(re.escape(word.encode()) for word in first)) if first else None


def _foreign(data: bytes, start: int, stop: int) -> list[Span]:
    """`密码：x`, `contraseña: x`: the words of other languages."""
    from .extent import bare, quoted  # noqa: PLC0415 - rare
    from .values import plausible  # noqa: PLC0415

    out: list[Span] = []
    done = 0
    for word in _FOREIGN.finditer(data, start, stop + 16):
        link = _FOREIGN_LINK.match(data, word.end()) if word.start() >= done else None
        if link is not None:
            first, last = quoted(data, link.end()) or (link.end(), bare(data, link.end(), 128))
            if plausible(data[first:last], firm=False):
                out.append((first, last, "secret-key-value"))
                done = last
    return out
