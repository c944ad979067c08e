"""Where secret words stand in a text, and the whole key around each."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from .keywords import NEUTRAL
from .shapes import Buffer

# `token of`, `key point`: a plain word behind a plain word announces nothing, unless it is "is" or says nothing by itself.
_CONNECTING: Final = "|".join(
    sorted(("is", "was", "are", "to", "as", "of", "set", "ist", "lautet", "es", "est", "has", "for", *NEUTRAL))
).encode()
_PROSE: Final = rb"(?!s?[ \t]{1,8}+(?!(?:%b)[ \t:=\"])[a-z]{1,24}(?:[ \t.,;!?)\n=:\"]|\Z))" % _CONNECTING
# One letter of these words is rare enough to be searched for in C; the rest is checked where it stands.
_BY_LETTER: Final = (re.compile(rb"k(?:ey|(?<=tok)en|(?<=ook)ie|(?<=psk))" + _PROSE), re.compile(rb"w(?:d|or[dt]|t|oord|(?<=pw))" + _PROSE))
_WHOLE: Final = (b"pass", b"cred", b"secret", b"auth", b"sess", b"otp", b"code", b"cvv", b"mnemonic", b"conn")
_ALL: Final = re.compile(
    rb"(?:k(?:ey|(?<=tok)en|(?<=ook)ie|(?<=psk))|w(?:d|or[dt]|t|oord|(?<=pw)))"
    + _PROSE
    + rb"|pass|secret|cred|auth|sess|otp|code|cvv|mnemonic|conn"
)


@lru_cache(maxsize=1)
def fast_words() -> Any | None:
    """The whole words as one google-re2 pattern: one pass in C++, without the interpreter's lock. None when not installed."""
    try:
        re2 = importlib.import_module("re2")
    except ImportError:
        return None
    return re2.compile(b"|".join(_WHOLE))


_SHORT: Final = 1_024
_OVERLAP: Final = 16
MAX_KEY: Final = 80


def hits(low: bytes, start: int, stop: int, own: re.Pattern[bytes] | None) -> list[int]:
    """Where secret words stand in the lower-case text, in order."""
    limit = min(len(low), stop + _OVERLAP)
    if stop - start <= _SHORT:
        out = [found.start() for found in _ALL.finditer(low, start, limit)]
    else:
        out = [found.start() for regex in _BY_LETTER for found in regex.finditer(low, start, limit)]
        out += _whole_words(low, start, limit)
        out.sort()
    if own is not None:
        out += [found.start() for found in own.finditer(low, start, limit)]
        out.sort()
    return out


def _whole_words(low: bytes, start: int, limit: int) -> list[int]:
    fast = fast_words()
    if fast is not None:
        return [found.start() for found in fast.finditer(low, start, limit)]
    out: list[int] = []
    for stem in _WHOLE:
        at = low.find(stem, start, limit)
        while at >= 0:
            out.append(at)
            at = low.find(stem, at + 3, limit)
    return out


def key_places(buffer: Buffer, start: int, stop: int, own: re.Pattern[bytes] | None) -> Iterator[tuple[int, int]]:
    """Start and end of each key that holds a secret word."""
    classes = buffer.classes
    size = len(classes)
    done = -1
    for hit in hits(buffer.low, start, stop, own):
        if hit < done:
            continue
        begin = classes.rfind(b" ", hit - MAX_KEY if hit > MAX_KEY else 0, hit) + 1
        end = classes.find(b" ", hit)
        done = end = size if end < 0 else end
        if begin == 0 and hit > MAX_KEY:
            continue
        if end - begin <= MAX_KEY:
            yield begin, end
