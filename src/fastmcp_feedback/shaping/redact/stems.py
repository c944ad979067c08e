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
# One letter of each word is rare enough to be searched for in C; the rest is checked where it stands.
_KEY: Final = rb"k(?:ey|(?<=tok)en|(?<=ook)ie|(?<=psk))" + _PROSE
_WORD: Final = rb"w(?:d|or[dt]|t|oord|(?<=pw))" + _PROSE
_OTHERS: Final = (_KEY, _WORD, rb"c(?:r(?:ed|et(?<=secret))|o(?:de|nn)|vv|(?<=mnemonic))", rb"ut(?<=aut)h", rb"ss(?<=sess)")
_WHOLE: Final = rb"pass|secret|cred|auth|sess|otp|code|cvv|mnemonic|conn"
# With and without `pin`, which counts only at the end of a JSON key.
_BY_LETTER: Final = tuple(
    tuple(re.compile(word) for word in (*_OTHERS, letter)) for letter in (rb"p(?:ass|(?<=otp))", rb"p(?:ass|in\":|(?<=otp))")
)
_ALL: Final = tuple(re.compile(b"%b|%b|%b" % (_KEY, _WORD, whole)) for whole in (_WHOLE, _WHOLE + rb"|pin\":"))
_SHORT: Final = 256
_OVERLAP: Final = 16
_FAST_LEAST: Final = 2_048
MAX_KEY: Final = 80
MAX_JSON_KEY: Final = 200


@lru_cache(maxsize=1)
def fast_words() -> Any | None:
    """Every word as one google-re2 pattern: one pass in C++, without the interpreter's lock. None when not installed."""
    try:
        re2 = importlib.import_module("re2")
    except ImportError:
        return None
    return re2.compile(rb"key|token|ookie|psk|wd|wor[dt]|wt|woord|pw|pin\":|" + _WHOLE)


def hits(low: bytes, start: int, stop: int, own: re.Pattern[bytes] | None, *, raw: bool = False) -> list[int]:
    """Where secret words stand in the lower-case text (a place within each word), in order; in JSON the end `pin` of a key too."""
    limit = min(len(low), stop + _OVERLAP)
    if stop - start <= _SHORT:
        out = [found.start() for found in _ALL[raw].finditer(low, start, limit)]
    elif stop - start >= _FAST_LEAST and (fast := fast_words()) is not None and fast.search(low, max(0, start - _OVERLAP), limit) is None:
        out = []
    else:
        out = [found.start() for regex in _BY_LETTER[raw] for found in regex.finditer(low, start, limit)]
        out.sort()
    if own is not None:
        out += [found.start() for found in own.finditer(low, start, limit)]
        out.sort()
    return out


def key_places(buffer: Buffer, start: int, stop: int, own: re.Pattern[bytes] | None) -> Iterator[tuple[int, int]]:
    """Start and end of each key that holds a secret word; longer ones in JSON, where a key may be any string."""
    classes = buffer.classes
    most = MAX_JSON_KEY if buffer.raw else MAX_KEY
    size = len(classes)
    done = -1
    for hit in hits(buffer.low, start, stop, own, raw=buffer.raw):
        if hit < done:
            continue
        begin = classes.rfind(b" ", hit - most if hit > most else 0, hit) + 1
        end = classes.find(b" ", hit)
        done = end = size if end < 0 else end
        if begin == 0 and hit > most:
            continue
        if end - begin <= most:
            yield begin, end
