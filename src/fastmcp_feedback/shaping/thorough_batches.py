"""Batches in which nothing worked: every item says that it failed, or nothing stands on the side of what succeeded."""

from __future__ import annotations

from typing import Any, Final

from .thorough_dicts import MAX_ITEMS, describe, detail, is_empty, labelled, pydantic_detail, said_nothing
from .thorough_keys import Parts


def batch_failed(parts: Parts) -> str | None:
    """A batch in which nothing worked: every item failed, or nothing on the side of what succeeded."""
    for key, value in parts.of("batch"):
        if isinstance(value, list) and (found := items_failed(value)):
            return labelled(f"{key}: all failed", found)
    worked = [value for _, value in parts.of("worked")]
    if not worked or any(not is_empty(value) or value is False for value in worked):
        return None
    for key, value in parts.of("went_wrong"):
        if isinstance(value, list) and value:
            return labelled(f"{key}={len(value)}", describe(value))
        if type(value) is int and value > 0:
            return labelled(f"{key}={value}", detail(parts))
    return None


def items_failed(items: list[Any]) -> str:
    """The first message of a list whose every item says that it failed; empty when one did not."""
    if not items:
        return ""
    first = ""
    for item in items[:MAX_ITEMS]:
        said = _item_failed(item)
        if not said:
            return ""
        first = first or said
    return first


def _item_failed(item: Any) -> str:
    if not isinstance(item, dict) or not item or item.keys() & _LOG_KEYS:
        return ""
    if item.get("ok") is True or item.get("success") is True:
        return ""
    if "msg" in item and "loc" in item:
        return pydantic_detail(item)
    error = item.get("error", item.get("Error"))
    failed = item.get("ok") is False or item.get("success") is False
    said = error if isinstance(error, str) and not said_nothing(error) else describe(error) if isinstance(error, dict) else ""
    return said or ((describe(item.get("message")) or "failed") if failed else "")


_LOG_KEYS: Final = frozenset({"level", "timestamp", "time", "line", "severity", "logger", "ts", "date", "created_at"})
