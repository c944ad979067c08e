"""Which values a redaction removed, for the carry-over."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from .values import looks_random

_WORD_ENDS: Final = re.compile(r"[\s\"'=:,;&]+")


def collect(item: Any, found: list[str]) -> None:
    """Append every string and number inside a removed value, for the carry-over."""
    if isinstance(item, str):
        found.append(item)
    elif isinstance(item, bool) or item is None:
        return
    elif isinstance(item, bytes):
        found.append(item.decode("utf-8", "replace"))
    elif isinstance(item, Mapping):
        for key, part in item.items():
            if isinstance(key, str) and looks_random(key.encode("utf-8", "replace"), 16):
                found.append(key)
            collect(part, found)
    elif isinstance(item, (list, tuple, set, frozenset)):
        for part in item:
            collect(part, found)
    elif isinstance(item, (int, float)):
        found.append(json.dumps(item))
    else:
        found.append(str(item))


def noted(redact_text: Callable[[str], str], text: str, found: list[str]) -> str:
    """A host's `redact_text`, with the parts that it removed appended to `found`."""
    redacted = redact_text(text)
    if redacted != text:
        lost(text, redacted, found)
    return redacted


def lost(before: Any, after: Any, found: list[str]) -> None:
    """Append what a host's own redaction removed, by comparing the value before and after."""
    if before == after and type(before) is type(after):
        return
    if isinstance(before, str) and isinstance(after, str):
        found += _missing(before, after)
    elif isinstance(before, Mapping) and isinstance(after, Mapping):
        for key, item in before.items():
            if key in after:
                lost(item, after[key], found)
            else:
                collect({key: item}, found)
    elif isinstance(before, (list, tuple)) and isinstance(after, (list, tuple)) and len(before) == len(after):
        for old, new in zip(before, after, strict=True):
            lost(old, new, found)
    else:
        collect(before, found)


def _missing(before: str, after: str) -> list[str]:
    """What the one text has between its common start and end with the other, and its words that the other lacks."""
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    middle = before[start : len(before) - end]
    return [middle, *(word for word in _WORD_ENDS.split(before) if word not in after)]


def _common(one: str, other: str) -> int:
    """Length of the common beginning."""
    for at, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return at
    return min(len(one), len(other))
