"""What differs between two JSON values, by path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from .arguments import ROOT, step

MAX_DIFFERENCES: Final = 50


class _Absent:
    def __repr__(self) -> str:
        return "(absent)"


ABSENT: Final = _Absent()


@dataclass(frozen=True, slots=True)
class Difference:
    """One place. `before` or `after` is `ABSENT` where there is nothing."""

    path: str
    before: Any
    after: Any

    def to_dict(self) -> dict[str, Any]:
        """For JSON: an absent side has no key."""
        sides = {"before": self.before, "after": self.after}
        return {"path": self.path, **{name: value for name, value in sides.items() if value is not ABSENT}}


def differences(before: Any, after: Any, limit: int = MAX_DIFFERENCES) -> list[Difference]:
    """The first `limit` places at which two JSON values differ.

    >>> differences({"status": "failed", "n": 1}, {"status": "done", "n": 1})
    [Difference(path='$.status', before='failed', after='done')]
    """
    return list(islice(_walk(before, after, ROOT), limit))


def _walk(before: Any, after: Any, path: str) -> Iterator[Difference]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            yield from _pair(before.get(key, ABSENT), after.get(key, ABSENT), step(path, key))
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(max(len(before), len(after))):
            left = before[index] if index < len(before) else ABSENT
            right = after[index] if index < len(after) else ABSENT
            yield from _pair(left, right, step(path, index))
    elif not _same(before, after):
        yield Difference(path, before, after)


def _pair(before: Any, after: Any, path: str) -> Iterator[Difference]:
    if before is ABSENT or after is ABSENT:
        yield Difference(path, before, after)
    else:
        yield from _walk(before, after, path)


def _same(before: Any, after: Any) -> bool:
    # JSON knows true and 1 apart; Python's == does not. 1 and 1.0 are one number.
    return isinstance(before, bool) is isinstance(after, bool) and bool(before == after)
