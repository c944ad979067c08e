"""Recorded arguments: are they what the tool was called with, and if not, what is missing?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ..jsonsafe import CUT_CYCLE, CUT_DEPTH

REDACTED_MARK: Final = "[REDACTED]"
_CUTS: Final = (CUT_DEPTH, CUT_CYCLE)
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
ROOT: Final = "$"


@dataclass(frozen=True, slots=True)
class Lost:
    """A place in recorded arguments that is not what the tool got. `reason`: `redacted`, `truncated` or `not recorded`."""

    path: str
    reason: str


def step(path: str, key: str | int) -> str:
    """The JSON path one step further down.

    >>> step(step("$", "scenes"), 0), step("$", "two words")
    ('$.scenes[0]', "$['two words']")
    """
    if isinstance(key, int):
        return f"{path}[{key}]"
    return f"{path}.{key}" if _PLAIN_KEY.fullmatch(key) else f"{path}[{key!r}]"


def is_cut(value: Any) -> bool:
    """Is this the marker that stands for a value over the size limit?"""
    return isinstance(value, dict) and value.get("_truncated") is True and "preview" in value


def lost_arguments(call: Mapping[str, Any]) -> list[Lost]:
    """What keeps a recorded call from being made again as it was; empty when nothing does.

    >>> lost_arguments({"args": {"scene": "big", "api_key": "[REDACTED]"}})
    [Lost(path='$.api_key', reason='redacted')]
    """
    args = call["args"]
    if args is None:
        return [Lost(ROOT, "not recorded")]
    return list(_lost(args, ROOT))


def describe_lost(lost: list[Lost]) -> str:
    """Why a call cannot be made again, for a person."""
    if lost[0].reason == "not recorded":
        return "its arguments were not recorded (mode meta)"
    if lost[0].path == ROOT:
        return "its arguments were too large and were truncated when they were recorded"
    parts = [
        f"{reason} when they were recorded: {', '.join(paths[:10])}{' ...' if len(paths) > 10 else ''}"
        for reason in ("redacted", "truncated")
        if (paths := [one.path for one in lost if one.reason == reason])
    ]
    return "arguments were " + "; ".join(parts)


def _lost(value: Any, path: str) -> Iterator[Lost]:
    if isinstance(value, str):
        if REDACTED_MARK in value:
            yield Lost(path, "redacted")
        elif value in _CUTS:
            yield Lost(path, "truncated")
    elif is_cut(value):
        yield Lost(path, "truncated")
    elif isinstance(value, dict):
        for key, item in value.items():
            if REDACTED_MARK in key:
                yield Lost(step(path, key), "redacted")
            yield from _lost(item, step(path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _lost(item, step(path, index))
