"""What a tool's result is to a record: structured content when present, else its content items."""

from __future__ import annotations

import copy
from typing import Any


def result_payload(result: Any) -> tuple[Any, bool, bool]:
    """The payload to encode, whether the tool marked it as an error, and whether it holds JSON types only.

    Items are texts, and `{"type": ...}` for other kinds: images, audio, links and embedded files stay where they are.
    Anything that is not a tool's result becomes one item that names it.
    """
    flag = getattr(result, "is_error", None)
    is_error = _camel_error(result) if flag is None else flag is True
    try:
        structured = result.structured_content
        if structured is not None:
            return structured, is_error, True
        items = result.content
    except AttributeError:
        return _other(result), is_error, True
    if not isinstance(items, list):
        return _other(result), is_error, True
    if not items:
        asks = getattr(result, "input_required", None)
        return ([] if asks is None else [{"type": "input_required"}]), is_error, True
    return [_item(item) for item in items], is_error, True


def with_meta(result: Any, entries: dict[str, Any]) -> Any:
    """A copy of a tool's result whose `_meta` has these entries as well; other results come back as they are."""
    if not hasattr(result, "structured_content") or getattr(result, "input_required", None) is not None:
        return result
    meta = {**(result.meta or {}), **entries}
    if hasattr(result, "model_copy"):
        return result.model_copy(update={"meta": meta})
    changed = copy.copy(result)  # 2.14: a plain object
    changed.meta = meta
    return changed


def _item(item: Any) -> Any:
    kind = getattr(item, "type", None)
    if kind == "text":
        text = getattr(item, "text", None)
        if isinstance(text, str):
            return text
    return {"type": kind if isinstance(kind, str) else type(item).__name__}


def _camel_error(result: Any) -> bool:
    """`isError` of the protocol's own result type before FastMCP 4; FastMCP 2's own results have no such field."""
    fields = getattr(type(result), "model_fields", None)
    return isinstance(fields, dict) and "isError" in fields and result.isError is True


def _other(result: Any) -> Any:
    """A background task's ticket, the protocol's own result type, or something that only a middleware can return."""
    fields = getattr(type(result), "model_fields", None) or {}
    if "structuredContent" in fields:
        structured = result.structuredContent
        return structured if structured is not None else [_item(item) for item in result.content]
    if "task" in fields or "task_id" in fields:
        task = result.task if "task" in fields else result
        task_id = getattr(task, "task_id", None) or (getattr(task, "taskId", None) if "taskId" in _fields(task) else None)
        return [{"type": "task", "task_id": task_id if isinstance(task_id, str) else None}]
    return [{"type": type(result).__name__}]


def _fields(model: Any) -> Any:
    return getattr(type(model), "model_fields", None) or {}
