"""Does a key hold a secret? Keys are split into lower-case segments (camelCase, `-`, `_`, `.`, space) and remembered."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from .keywords import DEFAULT_SUFFIXES, JOINED, NEUTRAL, PASS_PREFIXES, PLAIN_KEYS, QUESTIONS, SESSION_COOKIES, TOKEN_PREFIXES, WEAK_WORDS

PLAIN: Final = 0
WEAK: Final = 1
STRONG: Final = 2

_CAMEL: Final = re.compile(r"([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])")
_SPLIT: Final = re.compile(r"[^\w]+|_+")
_VERSION: Final = re.compile(r"v?\d{1,3}")
_MAX_KEY_CHARS: Final = 200
_MEMO_SIZE: Final = 8192


def segments(key: str) -> list[str]:
    """The lower-case words of a key.

    >>> segments("X-Api-Key"), segments("clientSecretKey"), segments("AWSSecretKey")
    (['x', 'api', 'key'], ['client', 'secret', 'key'], ['aws', 'secret', 'key'])
    """
    spaced = _CAMEL.sub(r"\1\3 \2\4", key)
    return [word for word in _SPLIT.split(spaced.lower()) if word]


class KeyRules:
    """The key policy of one redactor: exact names, endings and the built-in exceptions."""

    __slots__ = ("_built_in", "_memo", "_names", "_suffixes", "custom")

    def __init__(self, keys: Iterable[str] | None, extra_keys: Iterable[str], suffixes: Iterable[str] | None) -> None:
        names = [*(keys or ()), *extra_keys]
        self._names = frozenset("".join(segments(name)) for name in names) - {""}
        self._suffixes = _by_last_word(DEFAULT_SUFFIXES if suffixes is None else suffixes)
        self._built_in = suffixes is None
        # Words of the host that the built-in stems would not find in a text.
        self.custom = tuple(sorted({name.lower() for name in [*names, *(suffixes or ())] if name.strip()}))
        self._memo: dict[str, int] = {}

    def rank(self, key: str) -> int:
        """PLAIN, WEAK (secret when the value looks like one) or STRONG."""
        known = self._memo.get(key)
        if known is None:
            known = self._rank(key)
            if len(self._memo) >= _MEMO_SIZE:
                self._memo = {}
            self._memo[key] = known
        return known

    def _rank(self, key: str) -> int:
        if len(key) > _MAX_KEY_CHARS:
            return PLAIN
        words = segments(key)
        if not words:
            return PLAIN
        if "".join(words) in self._names:
            return STRONG
        if not self._suffixes or (words[0] in QUESTIONS and len(words) > 1):
            return PLAIN
        if words[-1][-1].isdigit() and len(bare := words[-1].rstrip("0123456789")) >= 3:  # `password2`
            words[-1] = bare
        while len(words) > 1 and (words[-1] in NEUTRAL or _VERSION.fullmatch(words[-1])) and not self._ends(words):
            words = words[:-1]
        return self._judge(words, key)

    def _judge(self, words: list[str], key: str) -> int:
        last = words[-1]
        if last in {"token", "tokens"} and _counts(words):
            return PLAIN
        if key in {"PWD", "OLDPWD"}:
            return WEAK
        if self._ends(words):
            return STRONG
        return self._judge_more(words, key) if self._built_in else PLAIN

    def _judge_more(self, words: list[str], key: str) -> int:
        """What is not an ending: words written as one, cookies, and words that depend on the value."""
        last, before = words[-1], words[-2] if len(words) > 1 else ""
        if len(words) <= 2 and _joined(last):
            return STRONG
        if key.lower() in SESSION_COOKIES and last not in {"session", "sid", "sessid", "sessionid", "id"}:
            return STRONG
        if last == "pass" and before in PASS_PREFIXES:
            return STRONG
        if last == "key" and (not before or before in PLAIN_KEYS):
            return PLAIN
        return WEAK if last in WEAK_WORDS else PLAIN

    def _ends(self, words: list[str]) -> bool:
        return any(words[-len(ending) :] == ending for ending in self._suffixes.get(words[-1], ()))


def _by_last_word(suffixes: Iterable[str]) -> dict[str, list[list[str]]]:
    table: dict[str, list[list[str]]] = {}
    for suffix in suffixes:
        words = segments(suffix)
        if words:
            table.setdefault(words[-1], []).append(words)
    return table


def _counts(words: list[str]) -> bool:
    """`max_tokens`, `next_page_token`: a number or a place, not a secret."""
    return any(word in TOKEN_PREFIXES for word in words[:-1][-2:])


def _joined(word: str) -> bool:
    return word.endswith(JOINED)
