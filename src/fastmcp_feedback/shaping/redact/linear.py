"""Could this pattern take more than linear time? A check of its parse tree, on the careful side."""

from __future__ import annotations

import re
from re import _constants as sre  # type: ignore[attr-defined]  # no public module shows the parse tree
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final

_REPEATS: Final = {sre.MAX_REPEAT, sre.MIN_REPEAT}
_LARGE: Final = 64  # a repeat beyond this many rounds counts as unbounded
_FEW: Final = 4  # so few rounds of a part that varies cannot multiply up to much
_EVERYTHING: Final = frozenset(range(256)) | {-1}


def objection(source: str, flags: int) -> str | None:
    """Why the pattern may backtrack without bound, or None when it cannot.

    >>> objection("ACME-[0-9]{6}", 0), objection("(a+)+$", 0)
    (None, 'a repeat inside a repeat')
    """
    tree = _parser.parse(source, flags)
    try:
        return _sequence(list(tree), inside=False, fold=bool(tree.state.flags & re.IGNORECASE))
    except RecursionError:
        return "it is nested too deeply"


def _sequence(items: list[Any], *, inside: bool, fold: bool) -> str | None:
    """Look at the items of one sequence and at pairs of long repeats in it."""
    open_sets: list[frozenset[int]] = []
    for op, argument in items:
        why = _item(op, argument, inside=inside, fold=fold)
        if why is not None:
            return why
        chars = _chars([(op, argument)], fold=fold)
        if op in _REPEATS and argument[1] is not None and int(argument[1]) > _LARGE:
            if any(chars & other for other in open_sets):
                return "two long repeats that can take the same characters"
            open_sets.append(chars)
        elif not _can_be_empty(op, argument):
            open_sets = [other for other in open_sets if chars <= other]
    return None


def _item(op: Any, argument: Any, *, inside: bool, fold: bool) -> str | None:
    if op in {sre.GROUPREF, sre.GROUPREF_EXISTS}:
        return "a back reference"
    if op is sre.POSSESSIVE_REPEAT or op is sre.ATOMIC_GROUP:
        body = argument[2] if op is sre.POSSESSIVE_REPEAT else argument
        return _sequence(list(body), inside=False, fold=fold)
    if op in _REPEATS:
        return _repeat(argument, inside=inside, fold=fold)
    if op is sre.SUBPATTERN:
        return _sequence(list(argument[-1]), inside=inside, fold=fold)
    if op is sre.BRANCH:
        return next((why for branch in argument[1] if (why := _sequence(list(branch), inside=inside, fold=fold))), None)
    if op in {sre.ASSERT, sre.ASSERT_NOT}:
        return _sequence(list(argument[1]), inside=False, fold=fold)
    return None


def _repeat(argument: Any, *, inside: bool, fold: bool) -> str | None:
    low, high, body = argument
    if inside and (low != high) and int(high) > 1:
        return "a repeat inside a repeat"
    items = list(body)
    if int(high) > _FEW and any(op is sre.BRANCH and _varies(op, arg) for op, arg in _flatten(items)):
        return "alternatives inside a repeat that can take the same text"
    if int(high) > 1 and not _separated(items, fold=fold):
        many = int(high) > _FEW
        if any(_varies(op, arg) if many else _long(op, arg) for op, arg in items):
            return "a repeat inside a repeat"
        return _sequence(items, inside=inside or many, fold=fold)
    return _sequence(items, inside=inside, fold=fold)


def _separated(items: list[Any], *, fold: bool) -> bool:
    """Does each round begin or end with a character that no other part of it can take?"""
    flat = _flatten(items)
    if len(flat) < 2:
        return False
    for edge, rest in ((flat[0], flat[1:]), (flat[-1], flat[:-1])):
        if edge[0] not in {sre.LITERAL, sre.IN}:
            continue
        if not _chars([edge], fold=fold) & _chars(rest, fold=fold):
            return True
    return False


def _flatten(items: list[Any]) -> list[Any]:
    out: list[Any] = []
    for op, argument in items:
        if op is sre.SUBPATTERN:
            out += _flatten(list(argument[-1]))
        else:
            out.append((op, argument))
    return out


def _long(op: Any, argument: Any) -> bool:
    """Is there a repeat without a small bound in this part?"""
    if op in _REPEATS:
        return int(argument[1]) > _LARGE or any(_long(o, a) for o, a in argument[2])
    if op is sre.SUBPATTERN:
        return any(_long(o, a) for o, a in argument[-1])
    return op is sre.BRANCH and any(_long(o, a) for branch in argument[1] for o, a in branch)


def _varies(op: Any, argument: Any) -> bool:
    """Can this part match texts of different length, or the same text in two ways?"""
    if op in _REPEATS:
        return bool(argument[0] != argument[1]) or any(_varies(o, a) for o, a in argument[2])
    if op is sre.SUBPATTERN:
        return any(_varies(o, a) for o, a in argument[-1])
    if op is sre.BRANCH:
        if any(all(_can_be_empty(o, a) for o, a in branch) for branch in argument[1]):
            return True
        starts = [_chars(list(branch)[:1], fold=False) for branch in argument[1]]
        return any(a & b for at, a in enumerate(starts) for b in starts[at + 1 :]) or any(
            _varies(o, a) for branch in argument[1] for o, a in branch
        )
    return False


def _can_be_empty(op: Any, argument: Any) -> bool:
    if op in _REPEATS or op is sre.POSSESSIVE_REPEAT:
        return int(argument[0]) == 0 or all(_can_be_empty(o, a) for o, a in argument[2])
    if op is sre.SUBPATTERN:
        return all(_can_be_empty(o, a) for o, a in argument[-1])
    if op is sre.BRANCH:
        return any(all(_can_be_empty(o, a) for o, a in branch) for branch in argument[1])
    return op in {sre.AT, sre.ASSERT, sre.ASSERT_NOT}


def _chars(items: list[Any], *, fold: bool) -> frozenset[int]:
    """Characters (below 256, and -1 for all others) that the items can take anywhere."""
    out: set[int] = set()
    for op, argument in items:
        if op is sre.LITERAL:
            out |= _cased(argument, fold=fold)
        elif op is sre.NOT_LITERAL:
            out |= _EVERYTHING - {argument}
        elif op is sre.IN:
            out |= _in_set(argument, fold=fold)
        elif op in _REPEATS or op is sre.POSSESSIVE_REPEAT:
            out |= _chars(list(argument[2]), fold=fold)
        elif op is sre.SUBPATTERN:
            out |= _chars(list(argument[-1]), fold=fold)
        elif op is sre.BRANCH:
            for branch in argument[1]:
                out |= _chars(list(branch), fold=fold)
        elif op in {sre.AT, sre.ASSERT, sre.ASSERT_NOT}:
            continue
        else:
            return _EVERYTHING
    return frozenset(out)


def _in_set(argument: Any, *, fold: bool) -> frozenset[int]:
    out: set[int] = set()
    negate = False
    for op, value in argument:
        if op is sre.NEGATE:
            negate = True
        elif op is sre.LITERAL:
            out |= _cased(value, fold=fold)
        elif op is sre.RANGE:
            for code in range(value[0], min(value[1], 255) + 1):
                out |= _cased(code, fold=fold)
            if value[1] > 255:
                out.add(-1)
        else:
            out |= _category(value)
    return frozenset(_EVERYTHING - out if negate else out)


def _cased(code: int, *, fold: bool) -> set[int]:
    if code > 255:
        return {-1}
    return {code, ord(chr(code).lower()[0]), ord(chr(code).upper()[0])} if fold else {code}


def _category(name: Any) -> frozenset[int]:
    tests = {
        sre.CATEGORY_DIGIT: r"\d", sre.CATEGORY_NOT_DIGIT: r"\D", sre.CATEGORY_SPACE: r"\s",
        sre.CATEGORY_NOT_SPACE: r"\S", sre.CATEGORY_WORD: r"\w", sre.CATEGORY_NOT_WORD: r"\W",
    }  # fmt: skip
    test = re.compile(tests[name])
    other = set() if name is sre.CATEGORY_SPACE else {-1}
    return frozenset({code for code in range(256) if test.match(chr(code))} | other)
