"""Dict results that are failures: error objects and lists, codes beside a message, problem documents, failed batches.

Each check takes the parts of one dict and answers with a message or None. Only the first keys and items are looked at.
"""

from __future__ import annotations

import re
from typing import Any, Final

from .classify import MAX_MESSAGE_CHARS
from .thorough_keys import Parts, roles_of, says

MAX_ITEMS: Final = 50  # of a list that are looked at

_NONE_WORDS: Final = frozenset(
    {"", "none", "null", "nil", "no", "false", "0", "ok", "okay", "success", "n/a", "na", "-", "no error", "no errors", "undefined"}
)
_FAILED_WORDS: Final = frozenset(
    {"fail", "errored", "exception", "fatal", "err", "faulted", "error_occurred", "server_error", "client_error"}
)
# Words of a status that mean failure when a message stands beside it.
_FAILED_STATUS: Final = re.compile(
    r"(?:invalid|unknown|unsupported|missing|bad|failed|error)[_ -]\w"
    r"|\w[_ -](?:error|failed|failure|denied|exceeded|invalid|missing|rejected|timeout)$"
    r"|(?:unauthori[sz]ed|forbidden|denied|timeout|timed[_ -]?out|not[_ -]?found|rate[_ -]?limited|throttled|aborted|crashed|blocked"
    r"|invalid|conflict|permission[_ -]denied|access[_ -]denied|unavailable|unreachable|exception|refused)$",
    re.IGNORECASE,
)
_ERROR_KEYS: Final = frozenset({
    "code", "message", "msg", "type", "reason", "detail", "details", "description", "title", "error", "errors", "errno", "rootcause",
    "stack", "traceback", "faultstring", "innererror", "status", "name", "exception", "text", "summary", "errorcode", "errormessage",
    "value", "kind",
})  # fmt: skip
_MESSAGE_KEYS: Final = (
    "message", "Message", "msg", "detail", "details", "description", "reason", "title", "error", "value", "text", "errorMessage", "code",
    "Code", "type",
)  # fmt: skip
_FINDING_KEYS: Final = frozenset({
    "file", "filename", "filepath", "line", "row", "column", "rule", "ruleid", "severity", "level", "timestamp", "time", "count", "lineno",
})  # fmt: skip
_PLAIN: Final = (str, int, float, bool, type(None))


def labelled(label: str, detail: str) -> str:
    """`label: detail`, bounded; the label alone without a detail."""
    detail = detail[:MAX_MESSAGE_CHARS].strip()
    return f"{label[:200]}: {detail}" if detail else label[:200]


def said_nothing(text: str) -> bool:
    """Is this the text of a key that is always there (`none`, `ok`, `0`)?"""
    return len(text) < 16 and text.strip().lower() in _NONE_WORDS


def describe(value: Any) -> str:
    """The message inside an error value: a string, the first message key of a dict, the first item of a list."""
    for _ in range(4):
        if isinstance(value, str):
            return value
        if isinstance(value, dict):
            value = _first_message(value)
        elif isinstance(value, list) and value:
            value = value[0]
        else:
            break
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63 else ""


def _first_message(value: dict[Any, Any]) -> Any:
    for key in _MESSAGE_KEYS:
        found = value.get(key)
        if found:
            return found
    return next(iter(value.values()), None)


def is_empty(value: Any) -> bool:
    """Nothing, zero, False, or an empty text, list or dict."""
    return value is None or value is False or value in (0, "") or (isinstance(value, (list, dict)) and not value)


def _has_substance(parts: Parts, ignore: tuple[str, ...]) -> bool:
    """Does anything else in the dict look like a result: non-empty data, a positive figure?"""
    for number, (key, value) in enumerate(parts.result.items()):
        if number >= 64:
            return True
        if roles_of(key) and not any(role in {"worked", "envelope"} for role in roles_of(key)):
            continue
        if key in ignore or is_empty(value):
            continue
        if isinstance(value, list) or (isinstance(value, dict) and any(not is_empty(item) for item in value.values())):
            return True
        if isinstance(value, (int, float)) and "worked" in roles_of(key):
            return True
    return False


# -- one check for each rule


def flag_words(parts: Parts) -> str | None:
    """A flag that says no in another type or spelling."""
    for key, value in parts.of("flag"):
        if value is False or (isinstance(value, str) and value.lower() in {"false", "no"}):
            return labelled(f"{key}={value}", detail(parts))
        if value == 0 and type(value) is int and not parts.of("went_wrong") and parts.text("message", "error", "error_text"):
            return labelled(f"{key}=0", detail(parts))
    for key, value in parts.of("bad_flag"):
        if value is True or (isinstance(value, str) and value.lower() == "true"):
            return labelled(f"{key}={value}", detail(parts))
    return None


def status_words(parts: Parts) -> str | None:
    """A status in other words or another spelling of the key."""
    for key, value in parts.of("status"):
        if not isinstance(value, str) or len(value) > 60:
            continue
        word = value.lower()
        if word in _FAILED_WORDS or (word in {"error", "failed", "failure"}):
            return labelled(f"{key}={value}", detail(parts))
        if _FAILED_STATUS.match(value) and parts.text("message", "error", "error_text") and len(parts.result) <= 6:
            return labelled(f"{key}={value}", detail(parts))
    for key in ("result", "Result"):
        value = parts.result.get(key)
        if isinstance(value, str) and len(value) < 8 and value.lower() in {"error", "failed", "failure"} and len(parts.result) > 1:
            return labelled(f"{key}={value}", detail(parts))
    return None


def error_object(parts: Parts) -> str | None:
    """An error key that holds an object, a list or a true with a message."""
    for key, value in parts.of("error"):
        if isinstance(value, dict):
            if value and _is_error_object(value):
                return labelled(key, describe(value))
        elif isinstance(value, list):
            if (
                value
                and all(isinstance(item, (str, dict)) for item in value[:MAX_ITEMS])
                and not _are_findings(value)
                and not _has_substance(parts, (key,))
            ):
                return labelled(key, describe(value))
        elif value is True or (
            isinstance(value, int) and value and (parts.text("message", "error_text") or value >= 400) and len(parts.result) <= 6
        ):
            return labelled(f"{key}={value}", detail(parts))
    return None


def _is_error_object(value: dict[Any, Any]) -> bool:
    keys = [key.lower().replace("_", "") for key in list(value)[:20] if isinstance(key, str)]
    if value.get("type") in {"string", "object", "array", "number", "integer", "boolean"} and not value.get("message"):
        return False  # a JSON schema
    return any(key in _ERROR_KEYS for key in keys) and any(
        isinstance(item, (*_PLAIN, list, dict)) and item not in (None, "", 0, False) for item in value.values()
    )


def error_key(parts: Parts) -> str | None:
    """An error text under another name than `error`."""
    for role in ("error", "error_text"):
        for key, value in parts.of(role):
            if isinstance(value, str) and says(value) and not said_nothing(value):
                return labelled(key, value)
    return None


def error_list(parts: Parts) -> str | None:
    """A non-empty list or map of errors, and nothing that looks like a result beside it."""
    if not _VERDICTS.isdisjoint(parts.result):
        return None
    for key, value in parts.of("errors"):
        if isinstance(value, list):
            wrong = [item for item in value[:MAX_ITEMS] if item]
            if (
                wrong
                and not _are_findings(wrong)
                and all(isinstance(item, (str, dict)) for item in wrong)
                and not _has_substance(parts, (key,))
            ):
                return labelled(key, describe(wrong))
        elif isinstance(value, dict) and value and not _has_substance(parts, (key,)):
            entries = list(value.values())[:MAX_ITEMS]
            if all(
                isinstance(item, str) or (isinstance(item, list) and item and all(isinstance(part, str) for part in item[:MAX_ITEMS]))
                for item in entries
            ):
                return labelled(f"{key}.{next(iter(value))}", describe(entries[0]))
        elif isinstance(value, str) and says(value) and not said_nothing(value):
            return labelled(key, value)
    return None


# Keys of a validation's own answer: the errors are what was asked for.
_VERDICTS: Final = frozenset({"valid", "is_valid", "isValid", "passed", "compliant", "matches"})


def _are_findings(items: list[Any]) -> bool:
    """Rows of a linter, an importer or a log: what was asked for, not why the call failed."""
    first = items[0]
    if not isinstance(first, dict):
        return False
    keys = {key.lower().replace("_", "") for key in list(first)[:20] if isinstance(key, str)}
    return bool(keys & _FINDING_KEYS) or not (keys & _ERROR_KEYS or any("error" in key for key in keys))


def validation_list(parts: Parts) -> str | None:
    """What pydantic and FastAPI say: `{"detail": [{"loc": [...], "msg": "..."}]}`."""
    for key, value in parts.of("message"):
        if (
            isinstance(value, list)
            and value
            and isinstance(value[0], dict)
            and "msg" in value[0]
            and ("loc" in value[0] or "field" in value[0])
        ):
            return labelled(key, pydantic_detail(value[0]))
    return None


def pydantic_detail(item: dict[Any, Any]) -> str:
    """`body.size: field required` from one entry of a validation list."""
    place = item.get("loc", item.get("field", ""))
    where = ".".join(str(step) for step in place[:8]) if isinstance(place, (list, tuple)) else str(place)
    return f"{where[:200]}: {describe(item.get('msg'))}"


def message_only(parts: Parts) -> str | None:
    """The text of a dict that holds a message and nothing of substance; the text rules decide about it."""
    if len(parts.result) > 5:
        return None
    for key, value in parts.result.items():
        if key not in _BESIDES and "message" not in roles_of(key) and (value is False or not is_empty(value)):
            return None
    for key in ("message", "msg", "detail", "reason", "Message", "description"):
        value = parts.result.get(key)
        if says(value):
            return str(value)
    return None


_BESIDES: Final = frozenset({
    "documentation_url", "request_id", "requestId", "RequestId", "status", "code", "timestamp", "path", "trace_id", "traceId", "type",
    "help", "url", "docs", "id", "__type", "result", "data", "instance", "method",
})  # fmt: skip


def detail(parts: Parts) -> str:
    """What a dict says in words: its error texts first."""
    said = parts.text("error_text", "error")
    if said and not said_nothing(said):
        return said
    for _, value in (*parts.of("error"), *parts.of("errors")):
        if isinstance(value, (dict, list)) and value:
            return describe(value)
    return parts.text("message")
