"""Were two calls made with the same arguments, nearly the same, or others?"""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from typing import Any, Final, Literal

Likeness = Literal["identical", "near", "different"]
LIKENESS_COLUMNS: Final = "outcome, fingerprint, args_size, result_size"  # what is compared beside the arguments
_NEAR_RATIO: Final = 0.8
_NEAR_BYTES: Final = 8
_MAX_CHARS: Final = 300  # a longer text is compared by its first characters: comparing grows with the square


def likeness(one: dict[str, Any], other: dict[str, Any]) -> Likeness:
    """How alike the arguments of two calls of one tool are. Rows have `args` and `args_size`.

    With recorded arguments: equal, or equal but for one value that is similar. Without (mode `meta`): by their size in bytes, which
    tells less: the same size counts as identical only when both calls failed in the same way.

    >>> likeness({"args": {"path": "a.txt"}}, {"args": {"path": "a.txt"}})
    'identical'
    >>> likeness({"args": {"sql": "select nme from users"}}, {"args": {"sql": "select name from users"}})
    'near'
    >>> likeness({"args": {"path": "a.txt"}}, {"args": {"path": "src/other/long.py"}})
    'different'
    """
    if one.get("args") is not None and other.get("args") is not None:
        return _by_value(one["args"], other["args"])
    return _by_size(one, other)


def knows_arguments(row: dict[str, Any]) -> bool:
    """Were the arguments recorded?"""
    return row.get("args") is not None


def _by_value(one: Any, other: Any) -> Likeness:
    if one == other:
        return "identical"
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return "near" if _similar(one, other) else "different"
    names = {*one, *other}
    changed = [name for name in names if name not in one or name not in other or one[name] != other[name]]
    if len(changed) > 1:
        return "different"
    name = changed[0]
    if name not in one or name not in other:  # one option was added or taken away
        return "near" if len(names) > 1 else "different"
    return "near" if len(names) > 1 or _similar(one[name], other[name]) else "different"


def _similar(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
        return True
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return True
    first, second = _text(one), _text(other)
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return matcher.quick_ratio() >= _NEAR_RATIO and matcher.ratio() >= _NEAR_RATIO


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    return text[:_MAX_CHARS]


def _by_size(one: dict[str, Any], other: dict[str, Any]) -> Likeness:
    first, second = one.get("args_size"), other.get("args_size")
    same_failure = one.get("fingerprint") is not None and one.get("fingerprint") == other.get("fingerprint")
    if first is None or second is None:
        return "near" if same_failure else "different"
    if first == second:
        both_ok = one.get("outcome") == "ok" and other.get("outcome") == "ok"
        same_answer = both_ok and one.get("result_size") == other.get("result_size")
        return "identical" if same_failure or same_answer else "near"
    return "near" if same_failure or abs(first - second) <= _NEAR_BYTES else "different"
