"""Text results that are failures: how servers, shells and libraries begin their error messages.

Only the head of a text is looked at, and only how it begins: a log, a page or a program that merely contains an error
further down is what the caller asked for. Each pattern is anchored at the beginning and bounded.
"""

from __future__ import annotations

import re
from typing import Final

from .thorough_patterns import SHORT, STRONG, compiled

HEAD_CHARS: Final = 600
_SHORT_CHARS: Final = 320  # up to here a text can be one message; weaker signs count in such texts only
_SHORT_LINES: Final = 4

# Marks before the words: headings, bold, quotes, list dots, emoji, brackets, prompts.
_LEAD: Final = re.compile(r"[\s#*_>`~|•\u2013\u2014\-\[(<\"'\ufeff\u2190-\u2bff\ufe0f\u200d\U0001f300-\U0001faff]{0,24}")
_FIGURE: Final = re.compile(
    r"[\s:=]{0,4}(?![45]\d\d\b)(?:[-+±]?\d[\d.]{0,20} ?%?(?:,[^\n]{0,200})?|none|null|no errors?|n/a|false|nil|-)[\s.)*\]]{0,4}$",
    re.IGNORECASE,
)
_STATISTIC: Final = re.compile(
    r"(?:standard|mean|squared|absolute|average|margin|percent|relative|rounding|training|test|sampling)\b", re.IGNORECASE
)
# Lines of a log or a report that are no failure: then the failing line is one of many.
_OTHER_LINES: Final = re.compile(
    r"^\W{0,3}(?:trace|debug|info|notice|warn(?:ing)?|ok|pass(?:ed)?|success)\b\W|\b(?:succeeded|passed)$", re.IGNORECASE | re.MULTILINE
)
# At least one of these stands near the beginning of every text that a rule can match; looking is cheaper than the rules.
_GATE_CHARS: Final = 240
_TRIGGERS: Final = (
    "err", "fail", "not", "no ", "n't ", "invalid", "exce", "denied", "unable", "must", "require", "exit", "time", "unknown",
    "missing", "exp", "unauth", "forbid", "unsup", "trace", "panic", "too ", "http", "wrong", "oops", "memory", "unavail",
    "disabled", "exist", "locked", "only ", "cancel", "duplicate", "syntax", "bad ", "attribute", "range", "zero", "closed",
    "offline", "limit", "abort", "reject", "block", "fault", "fatal", "critical", "illegal", "malformed", "ambig", "empty",
    "specif", "provide", "full", "space", "e:", "segm", "goroutine", "curl", "unrecog", "severe", "gone", "lost", "reset",
    "conflict", "enoent", "eacces", "eperm", "epipe", "einval", "ebusy", "eisdir", "econn", "enospc", "emfile", "enfile", "erofs",
    "eloop", "eai_", "should", "unpack", "violat", "unhash", "recurs", "literal", "getaddrinfo", "connect", "hang up", "certif",
    "ssl", "permission", "please", "suffic", "ora-", "refus", "moved", "noauth", "readonly", "field", "value", "few ", "outside",
    "travers", "return", "status", "unreach", "named", "dial", "operand", "undefined", "takes ", "declin",
)  # fmt: skip

RULES: Final = (*STRONG, *SHORT)
_STRONG: Final = compiled(STRONG, re.NOFLAG)
_SHORT: Final = compiled(SHORT, re.IGNORECASE)


def find(text: str, rules: frozenset[str]) -> str | None:
    """The rule that takes this text for a failure, or None."""
    head = text[:HEAD_CHARS]
    if not _worth_a_look(head[:_GATE_CHARS].lower()):
        return None
    lead = _LEAD.match(head)
    start = lead.end() if lead else 0
    words = head[start:]
    for rule, pattern in _STRONG.items():
        if rule in rules and (hit := pattern.match(words)) and not _is_report(rule, words, hit):
            return rule
    short = text[start : start + _SHORT_CHARS + 1].rstrip()
    if len(short) > _SHORT_CHARS or short.count("\n") >= _SHORT_LINES or _OTHER_LINES.search(short):
        return None
    for rule, pattern in _SHORT.items():
        if rule in rules and pattern.match(short):
            return rule
    return None


def _worth_a_look(low: str) -> bool:
    for word in _TRIGGERS:  # noqa: SIM110 - half the time of any() with a generator
        if word in low:
            return True
    return False


def _is_report(rule: str, words: str, hit: re.Match[str]) -> bool:
    """Is it a figure (`Error: 0`), a statistic, or a log with lines of other kinds?"""
    if _OTHER_LINES.search(words):
        return True
    if rule != "text_error":
        return False
    return _FIGURE.match(words[hit.end() :].partition("\n")[0]) is not None or _STATISTIC.match(words) is not None
