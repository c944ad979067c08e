"""Secrets known by the word before them: `password=x`, `"apiKey": "x"`, `--token x`, `Authorization: Bearer x`, `<pwd>x</pwd>`."""

from __future__ import annotations

import re
from typing import Final

from . import blocks, headers
from .extent import bare, opening, quoted
from .keys import PLAIN, STRONG, WEAK, KeyRules
from .keywords import SESSION_COOKIES
from .spans import Span
from .values import is_placeholder, is_word, looks_like_password, looks_random, plausible

_MAX_KEY: Final = 80
# What may stand between a key and its value. Each branch begins with another character, so nothing is tried twice.
_LINK: Final = re.compile(
    rb"""(?P<close>\\{0,15}["'`]|\*\*|__|%22|&quot;|["'`]?\]|\xe2\x80[\x9c\x9d\x99])?
    [ \t]{0,16}+(?P<bold>\*\*)?
    (?:(?P<firm>=>|:=|\?=|\+=|<-(?=[ \t])|={1,3}(?!=)|%3[Dd])
      |(?P<soft>:(?!//|:)|\xef\xbc\x9a|%3[Aa])(?:[ \t]?!!?[a-z]{1,8}(?=[ \t]))?(?P<block>[ \t]*[|>][+\-]?[ \t]*\r?\n[ \t]+)?
      |(?P<call>\()|(?P<cell>\|)|(?P<tag>>)|(?P<comma>,)
      |(?P<attr>,?\s{0,4}["'`]?(?:value|Value|VALUE|val|content)["'`]?\s{0,4}[=:]))
    (?P<bold2>\*\*)?[ \t]{0,16}""",
    re.VERBOSE,
)
_GAP: Final = re.compile(
    rb"""(?P<is>[ \t]+(?:(?:is|was|has[ ]been|are)(?:[ ]now)?(?:[ ](?:set|reset|changed|rotated)[ ]to)?
        |ist|lautet|es|est|to|as|of|set[ ]to)[ \t]*[:=]?[ \t]+)
    |(?P<whose>[ \t]for[ \t][\w@.\-'"]{1,60}[ \t]?[:=][ \t]?)
    |(?P<typed>[ \t]+(?:string|String|str|char\*?|text|varchar)[ \t]*=[ \t]*)
    |(?P<space>[ \t]{1,4})""",
    re.VERBOSE,
)
_PARSER: Final = re.compile(rb"(?:invalid|unexpected|unknown|expected|illegal|bad|undefined|missing|near)[ \t]+\Z", re.IGNORECASE)
_GETTERS: Final = re.compile(
    rb"(?:get|fetch|read|load|lookup|find|is|has|check|validate|verify|list|delete|describe|create|generate|make|hash|reset|forgot|test)[_A-Z]|[a-z]+(?:e|)[rd]_?[Pp]ass\Z"
)
_NEW_LINE: Final = re.compile(rb"\r?\n[ \t]{0,16}(?:[-*][ \t])?")
_HEX_PAIR: Final = re.compile(rb"[0-9A-F]{2}(?=.)")
_WORD_BEFORE: Final = re.compile(rb"([A-Za-z]{2,20})[ _\-]\Z")
_ALONE: Final = re.compile(rb"[ \t]*(?:\r?\n|\Z|#|\\n|\\r)")
_LIST: Final = re.compile(rb"\[[^\[\]{}]{0,8192}\]")
_TYPED: Final = re.compile(rb"\s*&?[A-Za-z_][\w.\[\], |?]{0,40}=(?!=)\s*")
_CONNECTIVES: Final = frozenset(
    (b"or", b"and", b"to", b"is", b"if", b"with", b"for", b"in", b"the", b"flag", b"option", b"from", b"on", b"at", b"by", b"as", b"when")
)


class PairRules:
    """Finds the value that belongs to a secret key written in a text."""

    __slots__ = ("_keys", "_memo")

    def __init__(self, keys: KeyRules) -> None:
        self._keys = keys
        self._memo: dict[bytes, int] = {}

    def rank(self, key: bytes) -> int:
        """The rank of a key as it stands in a text, remembered."""
        known = self._memo.get(key)
        if known is None:
            known = self._keys.rank(key.decode("utf-8", "replace"))
            if len(self._memo) > 8192:
                self._memo = {}
            self._memo[key] = known
        return known

    def at(self, data: bytes, start: int, end: int) -> list[Span]:
        """Secrets that the key at `start..end` announces."""
        key = data[start:end]
        before = data[max(0, start - 2) : start]
        if before[-1:] == b"%" and _HEX_PAIR.match(key):  # `%22token%22`
            start, key = start + 2, key[2:]
        if before == b"//":  # the user of a URL
            return []
        rank = self.rank(key)
        lower = key.lower()
        if rank != STRONG and lower in {b"key", b"keys", b"code", b"codes", b"string", b"strings", b"header", b"phrase", b"hash"}:
            rank = self._with_word_before(data, start, key)
        if headers.is_header(lower):
            spans = headers.after(data, end, lower)
            if spans is not None:
                return spans
        if rank == PLAIN:
            return blocks.putty(data, end) if lower.startswith(b"putty-user-key-file") else []
        found = self._value(data, start, end, rank)
        if found is None and lower in SESSION_COOKIES_BYTES:
            found = headers.cookie_value(data, end)
        return [] if found is None else [(*found, "secret-key-value")]

    def _with_word_before(self, data: bytes, start: int, key: bytes) -> int:
        """`API key`, `access code`: two words that make one name."""
        before = _WORD_BEFORE.search(data, max(0, start - 24), start)
        if before is None:
            return PLAIN
        rank = self.rank(before[1] + b" " + key)
        return rank if rank == STRONG else PLAIN

    def _value(self, data: bytes, start: int, end: int, rank: int) -> tuple[int, int] | None:
        link = _LINK.match(data, end)
        flag = data[start : start + 1] == b"-"
        if link is None:
            return _spaced(data, start, end, rank, flag=flag)
        before = data[max(0, start - 1) : start]
        if link["tag"] and before not in {b"<", b":"}:
            return None
        at = link.end()
        if link["comma"]:
            return _listed(data, at, flag=flag) if link["close"] else None
        if link["call"]:
            return None if _GETTERS.match(data, start) else _listed(data, at, flag=False)
        if link["cell"] and rank != STRONG:
            return None
        if link["cell"]:
            return _bare_value(data, at, firm=False, random=True)
        if before == b":" and data[at - 1 : at] == b":":  # a part of a name such as `arn:aws:...:secret:prod/db`
            return _bare_value(data, at, firm=False, random=True)
        firm = bool(link["firm"] or link["tag"] or link["attr"] or link["close"])
        return _after_link(data, at, rank, firm=firm, soft=bool(link["soft"]))


def _after_link(data: bytes, at: int, rank: int, *, firm: bool, soft: bool) -> tuple[int, int] | None:
    """The value behind `=` or `:`."""
    if soft and data[at : at + 1] == b"[":
        return _list_value(data, at)
    if soft and (line := _NEW_LINE.match(data, at)):
        return _bare_value(data, line.end(), firm=False, random=True) if not opening(data, line.end()) else None
    inside = quoted(data, at)
    if inside is not None:
        return inside if _quoted_is_secret(data[inside[0] : inside[1]], rank) else None
    at += opening(data, at)
    if rank == WEAK:
        return _bare_value(data, at, firm=False, random=True)
    found = _bare_value(data, at, firm=firm, random=False)
    if found is None and soft:
        typed = _TYPED.match(data, at)
        if typed and (inside := quoted(data, typed.end())):  # `password: str = "..."`
            return inside if _quoted_is_secret(data[inside[0] : inside[1]], rank) else None
        return _alone_on_line(data, at)
    return found


def _quoted_is_secret(value: bytes, rank: int) -> bool:
    if rank == WEAK:
        return looks_random(value) or looks_like_password(value)
    return bool(value) and not is_placeholder(value) and not is_word(value) and value not in {b"***", b"..."}


def _bare_value(data: bytes, at: int, *, firm: bool, random: bool) -> tuple[int, int] | None:
    """An unquoted value that is worth removing."""
    end = bare(data, at)
    value = data[at:end]
    trimmed = value.rstrip(b".,;:") if end >= len(data) or data[end] <= 0x20 else value
    if random:
        return (at, at + len(trimmed)) if looks_random(trimmed) else None
    return (at, at + len(trimmed)) if plausible(trimmed, firm=firm) and not _is_code_line(data, end, trimmed) else None


def _is_code_line(data: bytes, end: int, value: bytes) -> bool:
    """`password = read_password ()`, `token = value if x else y`: the value is a name in a piece of code."""
    return data[end : end + 1] in {b"(", b"["} and value.replace(b"_", b"").isalpha()


def _alone_on_line(data: bytes, at: int) -> tuple[int, int] | None:
    """`password: swordfish`, with nothing behind it: a setting, unless the word speaks about passwords."""
    end = bare(data, at)
    value = data[at:end]
    if len(value) < 6 or not _ALONE.match(data, end) or is_placeholder(value) or is_word(value) or not value.islower():
        return None
    if value.endswith((b".", b"ed", b"ing", b"able", b"ible", b"(", b")")) or not value.isalnum():
        return None
    return (at, end) if data[max(0, at - 400) : at].rfind(b"\n") != -1 or at < 40 else None


def _spaced(data: bytes, start: int, end: int, rank: int, *, flag: bool) -> tuple[int, int] | None:
    """`--password x`, `the token is x`, `use token x`."""
    gap = _GAP.match(data, end)
    if gap is None or rank == WEAK:
        return None
    at = gap.end()
    inside = quoted(data, at)
    if inside is not None:
        value = data[inside[0] : inside[1]]
        good = _quoted_is_secret(value, rank) if flag or gap["typed"] else looks_like_password(value)
        return inside if good and b" " not in value and not _PARSER.search(data, max(0, start - 16), start) else None
    if not flag or not gap["space"]:
        return _bare_value(data, at, firm=False, random=True)
    stop = bare(data, at)
    value = data[at:stop].rstrip(b",;")
    if not value or value[:1] == b"-" or value in _CONNECTIVES or is_placeholder(value) or is_word(value) or value.isupper():
        return None
    return at, at + len(value)


def _listed(data: bytes, at: int, *, flag: bool) -> tuple[int, int] | None:
    """`define('DB_PASSWORD', 'x')`, `['--password', 'x']`, `("Authorization", "x")`."""
    inside = quoted(data, at)
    if inside is None:
        return None
    value = data[inside[0] : inside[1]]
    if flag:
        return inside if value and value[:1] != b"-" and not is_placeholder(value) else None
    return inside if looks_random(value) or looks_like_password(value) else None


def _list_value(data: bytes, at: int) -> tuple[int, int] | None:
    """`"api_keys": ["x", "y"]`: everything between the brackets when one of them looks like a secret."""
    found = _LIST.match(data, at)
    if found is None:
        return None
    items = re.findall(rb"[^\s\"'`,\[\]\\]+", found[0])
    return (at + 1, found.end() - 1) if any(looks_random(item) or looks_like_password(item) for item in items) else None


SESSION_COOKIES_BYTES: Final = frozenset(name.encode() for name in SESSION_COOKIES)
