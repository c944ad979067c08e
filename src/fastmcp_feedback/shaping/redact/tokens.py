"""Secrets known by their shape. Long runs of token characters are found first; only they are looked up, by their start.

One pass over the bytes finds every run of 16 or more characters of `A-Za-z0-9_-`: the bytes are mapped to two classes
in C, then searched for sixteen of one class in a row. A run's start (and each place after `_` or `-` in it) is looked up
in a table of the kinds' first three bytes. No rule is ever searched for on its own.
"""

from __future__ import annotations

import re
from typing import Final

from . import headers
from .kinds import ALL, Kind
from .values import looks_random

MIN_RUN: Final = 16
RUN_CHARS: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
RUN_CLASS: Final = bytes(0x61 if byte in RUN_CHARS else 0x20 for byte in range(256))
_NEEDLE: Final = b"a" * MIN_RUN
_ALNUM: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_SEPARATOR: Final = re.compile(rb"[_\-]")
_BASE64: Final = re.compile(rb"[A-Za-z0-9+/]+={0,2}")
_BASE64_LEFT: Final = re.compile(rb"[A-Za-z0-9+/]*\Z")
_LOOK_BACK: Final = 100
_MAX_STARTS: Final = 24

# A kind's format has a character that no run holds, so that its long run may stand behind a short one.
_HAS_GAP: Final = re.compile(r"'[^']*[^A-Za-z0-9_'\-][^']*'")
_TOKEN_LEFT: Final = re.compile(rb"[A-Za-z0-9_.:\-/+~*|!$=]{1,64}\Z")

Span = tuple[int, int, str]


class Rule:
    """A kind made ready: `back` bytes stand before the run, `size` is the length of the whole start.

    Its regular expression is compiled when a text first has such a start: most kinds never turn up.
    """

    __slots__ = ("_compiled", "_kind", "_prefix", "back", "inner", "loose", "name", "size")

    def __init__(self, kind: Kind, prefix: bytes, back: int) -> None:
        self._kind = kind
        self._prefix = prefix
        self._compiled: re.Pattern[bytes] | None = None
        self.name = kind.name
        self.back = back
        self.size = len(prefix)
        self.loose = kind.loose
        self.inner = not back and not kind.loose and len(prefix) >= 4

    @property
    def regex(self) -> re.Pattern[bytes]:
        """The start and what follows it."""
        if self._compiled is None:
            self._compiled = re.compile(re.escape(self._prefix) + self._kind.regex().encode())
        return self._compiled

    def from_start(self) -> Rule:
        """The same kind, looked for at its first byte."""
        return Rule(self._kind, self._prefix, 0)


# Keys that carry a checksum signature at a fixed place inside base64, whatever they begin with.
INFIX: Final = re.compile(
    rb"""(?P<openai>T3BlbkFJ)|(?P<cask>JQQJ9[9D])
    |(?P<azure>(?:APIM|ACDb|\+ABa|\+AMC|\+ASt|\+ARm|\+AEh|\+ASb|\+ACR|\+AKU|AIoT|AzCa|AzFu|AzSe|AZDO|AZEG|AZSB|AZEH|AZWP|AIQE)[A-Za-z0-9+/]{3,8}={0,2}\Z)""",
    re.VERBOSE,
)
_INFIX_NAMES: Final = {"openai": "openai-infix", "cask": "azure-cask-key", "azure": "azure-identifiable-key"}
_INFIX_LEAST: Final = 38
_INFIX_MOST: Final = 400

# `acme_live_…`, `xyz_pat_…`: the form that vendors have agreed on, with a start that is not in the list.
GENERIC: Final = re.compile(
    rb"(?:[A-Za-z][a-z0-9]{1,14}[_\-])?(?:sk|pat|api|key|live|test|prod|secret|token|oauth|apikey|access|admin|svc|service|bot|session|refresh)"
    rb"(?:[_\-](?:live|test|prod|v\d|key|api|us|eu|sk))*[_\-]([A-Za-z0-9]{20,})"
)
TELEGRAM: Final = re.compile(rb"(?<!\d)\d{8,11}:AA[A-Za-z0-9_\-]{31,}")
AZURE_SECRET: Final = re.compile(rb"(?<![\w~.\-])[A-Za-z0-9_~.\-]{3}\dQ~[A-Za-z0-9_~.\-]{31,37}")
SALESFORCE: Final = re.compile(rb"00D[A-Za-z0-9]{9,15}!\S{60,400}")


def _tables() -> tuple[dict[bytes, list[Rule]], ...]:
    three: dict[bytes, list[Rule]] = {}
    two: dict[bytes, list[Rule]] = {}
    behind: dict[bytes, list[Rule]] = {}
    heads: dict[bytes, list[Rule]] = {}
    for kind in ALL:
        for prefix in kind.prefixes:
            tail = _tail(prefix.encode())
            rule = Rule(kind, prefix.encode(), len(prefix) - len(tail))
            if len(tail) >= 3:
                three.setdefault(tail[:3], []).append(rule)
            elif rule.back:
                behind.setdefault(prefix.encode()[: rule.back][-2:], []).append(rule)
            else:
                two.setdefault(tail[:2], []).append(rule)
            if rule.back or _HAS_GAP.search(kind.form):
                heads.setdefault(prefix.encode()[:2], []).append(rule.from_start())
    return three, two, behind, heads


def _tail(prefix: bytes) -> bytes:
    """The part of a start that is made of run characters, and so belongs to the run."""
    size = len(prefix)
    while size and prefix[size - 1] in RUN_CHARS:
        size -= 1
    return prefix[size:]


_THREE, _TWO, _BEHIND, _HEADS = _tables()
WRAP_RUN: Final = 24
# Hashes, UUIDs, times and hyphenated words: nothing to look for, unless the first bytes or what stands before say so.
_DULL: Final = re.compile(
    rb"(?!00)(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{16,}+|[a-z]++(?:[_\-][a-z]++)*+|\d{4}-\d\d-\d\dT\d\d(?:-\d\d)*+)(?![A-Za-z0-9_+/=\-])"
)
_GLUE: Final = frozenset(key[-1] for key in _BEHIND) | frozenset(b".:|!$~\\%[+/")
# The most common dull runs, told by one look: hashes and UUIDs that no kind begins like, behind nothing that matters, and
# the digits behind the point of a JSON number (`"x":0.123`).
_CLEAN: Final = re.compile(
    rb"(?<![\x00-\x20%b])(?!00|%b)(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{16,}+)(?![A-Za-z0-9_+/=\-])"
    rb"|(?:(?<=\":\d\.)|(?<=[,\[]\d\.))\d{16,23}+(?=[,}\]])"
    % (re.escape(bytes(sorted(_GLUE))), b"|".join(sorted(start for start in _THREE if not start.strip(b"0123456789abcdef-"))))
)


def spans(data: bytes, classes: bytes, start: int, stop: int, long_runs: list[int]) -> list[Span]:
    """Tokens in one slice. Runs that may be base64 of a text are appended to `long_runs`."""
    out: list[Span] = []
    limit = min(stop + MIN_RUN, len(classes))
    find, clean, dull = classes.find, _CLEAN.match, _DULL.match
    begin = find(_NEEDLE, start, limit)
    if begin == start > 0:  # the run may have begun in the slice before
        begin = classes.rfind(b" ", max(0, begin - _LOOK_BACK), begin) + 1
    while 0 <= begin < stop:
        if (plain := clean(data, begin)) is not None:
            begin = find(_NEEDLE, plain.end(), limit)
            continue
        end = find(b" ", begin + MIN_RUN)
        if end < 0:
            end = len(classes)
        before = data[begin - 1] if begin else 0x20
        if before in _GLUE or data[begin : begin + 3] in _THREE or not dull(data, begin):
            found = match_run(data, begin, end) or match_infix(data, begin, end)
            if found is not None:
                out.append(found)
            elif end - begin >= WRAP_RUN:
                long_runs.append(begin)
        if before <= 0x20 and (scheme := headers.scheme_before(data, begin)) is not None:
            out.append(scheme)
        begin = find(_NEEDLE, end, limit)
    return out


def match_run(data: bytes, start: int, end: int) -> Span | None:
    """The secret that begins at, before or inside a run."""
    found = _behind(data, start) or _at(data, start)
    if found is None and start:
        found = _escaped(data, start, end)
    if found is None:
        found = _inside(data, start, end)
    if found is None and end - start >= 24:
        found = _generic(data, start)
    return found


def _at(data: bytes, start: int, *, inner: bool = False) -> Span | None:
    rules = _THREE.get(data[start : start + 3])
    if rules is not None:
        found = _first(data, start, rules, inner=inner)
        if found is not None or inner:
            return found
    rules = None if inner else _TWO.get(data[start : start + 2])
    return _first(data, start, rules, inner=False) if rules is not None else None


def _first(data: bytes, start: int, rules: list[Rule], *, inner: bool) -> Span | None:
    for rule in rules:
        at = start - rule.back
        if at < 0 or (inner and not rule.inner):
            continue
        found = rule.regex.match(data, at)
        if found is None or (rule.back and at and data[at - 1] in _ALNUM):
            continue
        if rule.loose and not looks_random(data[at + rule.size : found.end()], 12):
            continue
        return at, found.end(), rule.name
    return None


def _behind(data: bytes, start: int) -> Span | None:
    """Kinds whose start, or whose first short part, stands before the run: `SG.`, `dp.st.prod.`, `sha256~`."""
    if not start or data[start - 1] not in _GLUE:
        return None
    rules = _BEHIND.get(data[max(0, start - 2) : start]) or _BEHIND.get(data[start - 1 : start])
    if rules is not None and (found := _first(data, start, rules, inner=False)) is not None:
        return found
    left = _TOKEN_LEFT.search(data, max(0, start - 64), start)
    rules = _HEADS.get(data[left.start() : left.start() + 2]) if left else None
    if left and rules is not None:
        found = _first(data, left.start(), rules, inner=False)
        if found is not None and found[1] > start:
            return found
    return _numbered(data, start)


def _numbered(data: bytes, start: int) -> Span | None:
    """A telegram bot's number and colon, or a salesforce org and `!`, before the run."""
    if data[start - 1] == 0x3A:
        match = TELEGRAM.search(data, max(0, start - 12), start + 80)
        return (*match.span(), "telegram-bot-token") if match else None
    if data[start - 1] == 0x21:
        match = SALESFORCE.search(data, max(0, start - 20))
        return (*match.span(), "salesforce-session") if match and match.start() < start else None
    return None


def _escaped(data: bytes, start: int, end: int) -> Span | None:
    r"""A start glued to an escape: the `n` of `\\n` or the digits of `%22` and `\\u0022`."""
    before = data[start - 1]
    if before == 0x5C and data[start] in b"nrtbfu":
        skip = 5 if data[start] == 0x75 else 1
    elif before == 0x25:
        skip = 2
    elif before == 0x5B and b"m" in data[start : start + 6]:  # a terminal's colour
        skip = data.index(b"m", start) - start + 1
    else:
        return None
    return _at(data, start + skip) if start + skip < end else None


def _inside(data: bytes, start: int, end: int) -> Span | None:
    """A start behind `_` or `-` within the run: `my_token_ghp_…`."""
    for count, mark in enumerate(_SEPARATOR.finditer(data, start, end - MIN_RUN // 2)):
        if count >= _MAX_STARTS:
            break
        if (found := _at(data, mark.end(), inner=True)) is not None:
            return found
    return None


def _generic(data: bytes, start: int) -> Span | None:
    found = GENERIC.match(data, start)
    if found is not None and looks_random(found[1], 20):
        return start, found.end(), "vendor-style-token"
    return None


def match_infix(data: bytes, start: int, end: int) -> Span | None:
    """A key with a signature inside the base64 text around a run."""
    left = start
    if start and data[start - 1] in b"+/":
        before = _BASE64_LEFT.search(data, max(0, start - _LOOK_BACK), start)
        left = before.start() if before else start
    whole = _BASE64.match(data, left, left + _INFIX_MOST + 1)
    stop = max(end, whole.end()) if whole else end
    if stop - left < _INFIX_LEAST or stop - left > _INFIX_MOST:
        return None
    found = INFIX.search(data, left, stop)
    if found is None or (found.lastgroup != "openai" and found.start() - left < 24):
        return None
    return left, stop, _INFIX_NAMES[str(found.lastgroup)]
