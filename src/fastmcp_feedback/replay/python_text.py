"""Recorded values as Python source. Recorded text only ever becomes a literal or a name made of letters and digits."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any, Final

from .arguments import REDACTED_MARK, is_cut

PLACEHOLDER: Final = "PLACEHOLDER"
_COMMENT: Final = "  # was redacted when it was recorded"
_WIDTH: Final = 110
_MAX_DEPTH: Final = 40  # Python's parser gives up at 200 nested brackets
_NOT_A_WORD: Final = re.compile(r"[^a-z0-9]+")
_MAX_SLUG: Final = 48


def slug(text: str, limit_chars: int = _MAX_SLUG) -> str:
    """Words of a text as part of a name: `a-z`, `0-9` and `_` only.

    >>> slug("KeyError: 'Title' is missing!"), slug("!")
    ('keyerror_title_is_missing', '')
    """
    words = _NOT_A_WORD.sub("_", text[:1000].lower()).strip("_")
    if len(words) <= limit_chars:
        return words
    return words[:limit_chars].rpartition("_")[0] or words[:limit_chars]


def literal(value: Any, indent: int = 4) -> str:
    """A JSON value as a Python literal that reads well, placeholders where something was redacted.

    >>> print(literal({"scene": "big", "api_key": "[REDACTED]"}))
    {
            "scene": "big",
            "api_key": "PLACEHOLDER",  # was redacted when it was recorded
        }
    """
    if _depth(value) > _MAX_DEPTH:
        return f"json.loads({text_literal(json.dumps(value))})"
    return _literal(value, indent)


def needs_json(value: Any) -> bool:
    """Does its literal call `json.loads`?"""
    return _depth(value) > _MAX_DEPTH


def text_literal(text: str) -> str:
    """A string literal, in double quotes where that needs no escape. Everything unprintable is escaped.

    >>> print(text_literal("it's"), text_literal("two" + chr(9) + "words").count(chr(9)))
    "it's" 0
    """
    made = repr(text)
    if made.startswith("'") and '"' not in made:
        return '"' + made[1:-1].replace("\\'", "'") + '"'
    return made


def _literal(value: Any, indent: int) -> str:
    flat = _flat(value)
    if not _has_placeholder(value) and len(flat) + indent <= _WIDTH:
        return flat
    inner = " " * (indent + 4)
    if isinstance(value, dict) and value:
        lines = [_line(f"{text_literal(_filled(key))}: ", item, indent + 4) for key, item in value.items()]
        return "{\n" + "".join(f"{inner}{line}\n" for line in lines) + " " * indent + "}"
    if isinstance(value, list) and value:
        lines = [_line("", item, indent + 4) for item in value]
        return "[\n" + "".join(f"{inner}{line}\n" for line in lines) + " " * indent + "]"
    return flat


def _line(head: str, value: Any, indent: int) -> str:
    comment = _COMMENT if REDACTED_MARK in head or (isinstance(value, str) and REDACTED_MARK in value) else ""
    return f"{head}{_literal(value, indent)},{comment}"


def _flat(value: Any) -> str:
    if isinstance(value, str):
        return text_literal(_filled(value))
    if isinstance(value, dict):
        return "{" + ", ".join(f"{text_literal(_filled(key))}: {_flat(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flat, value)) + "]"
    if isinstance(value, float) and not isfinite(value):
        return f"float({str(value)!r})"
    return repr(value)


def _filled(text: str) -> str:
    return text.replace(REDACTED_MARK, PLACEHOLDER)


def _has_placeholder(value: Any) -> bool:
    if isinstance(value, str):
        return REDACTED_MARK in value
    if isinstance(value, dict):
        return any(REDACTED_MARK in key or _has_placeholder(item) for key, item in value.items())
    return isinstance(value, list) and any(map(_has_placeholder, value))


def _depth(value: Any) -> int:
    if is_cut(value):
        return 1
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + max(map(_depth, items), default=0)
