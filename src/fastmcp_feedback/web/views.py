"""What a page shows: a frozen dataclass, from which the template and the JSON twin are made alike."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from ..query.reader import Reader
    from .asked import Asked
    from .gates import Grant
    from .source import Source


@dataclass(frozen=True, slots=True)
class View:
    """A page's content. `template` is its file, `here` its entry in the navigation."""

    template: ClassVar[str] = ""
    here: ClassVar[str] = ""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain JSON values: times ISO 8601 in UTC, lists for tuples."""
        found: dict[str, Any] = plain_value(self)
        return found


@dataclass(frozen=True, slots=True)
class Visit:
    """One request, as pages see it. `root` is where the dashboard is mounted; `path` holds the values of the route."""

    reader: Reader
    source: Source
    asked: Asked
    grant: Grant
    now: datetime
    path: Mapping[str, str]


def plain_value(value: Any) -> Any:
    """Any value of a view as JSON: dataclasses become objects, with their properties named in `extra_fields`.

    >>> plain_value({"at": datetime(2026, 10, 2, tzinfo=UTC), "share": float("nan"), "names": ("a",)})
    {'at': '2026-10-02T00:00:00+00:00', 'share': None, 'names': ['a']}
    """
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value)] + list(getattr(value, "extra_fields", ()))
        return {name: plain_value(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_value(item) for item in value]
    if isinstance(value, datetime):
        return (value if value.tzinfo is not None else value.replace(tzinfo=UTC)).astimezone(UTC).isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (str, int, float)):
        return value
    return value.isoformat() if isinstance(value, date) else str(value)


class NotThere(Exception):
    """What was asked for does not exist; `hint` says where to look instead."""

    def __init__(self, text: str, hint: str) -> None:
        super().__init__(text)
        self.hint = hint
