"""Redaction of JSON bytes, and of values by way of JSON bytes."""
from __future__ import annotations
from collections.abc import Callable
from typing import Any, TYPE_CHECKING
from ...jsonsafe import dump_safe, loads
if TYPE_CHECKING:
    from .redactor import Redactor


class JsonRoad:
    def __init__(self, redactor: "Redactor") -> None:
        self._r = redactor

    def copy(self, value: Any) -> Any:
        return self._r.walk(None).value(value)

    def redact(self, data: bytes, found: list[str] | None, breathe: Callable[[], None] | None) -> bytes:
        v = loads(data)
        out = self._r.walk(found).value(v)
        return data if out == v else dump_safe(out)
