"""Codes that say that a call failed: HTTP statuses, error codes and types, problem documents, exit codes.

Each check takes the parts of one dict and answers with a message or None.
"""

from __future__ import annotations

import re
from typing import Any, Final

from .thorough_dicts import describe, detail, is_empty, labelled, said_nothing
from .thorough_keys import Parts, says

# An error code in words: NOT_FOUND, AccessDenied, ThrottlingException, invalid_request_error.
_CODE_WORDS: Final = re.compile(
    r"(?:error|exception|fault|invalid|not_?found|denied|forbidden|unauthori[sz]ed|unauthenticated|timeout|timed_?out|exceeded|missing|unavailable"
    r"|throttl|failed|failure|nosuch|no_such|does_?not_?exist|conflict|already_?exists|expired|unsupported|unknown|bad_?request|required|rejected"
    r"|refused|aborted|too_?many|limit|malformed|mismatch|precondition|unimplemented|internal|not_?allowed|unprocessable)",
    re.IGNORECASE,
)
_POSIX: Final = re.compile(r"E[A-Z]{3,14}$|EIO$|ERR_\w{2,60}$|ORA-\d+$|PGRST\d+$|P\d{4}$|AADSTS\d+$")
_GOOD_WORDS: Final = re.compile(
    r"(?:ok|okay|success\w*|succeeded|done|completed?|created|accepted|updated|deleted|found|no errors?|operation completed)\b",
    re.IGNORECASE,
)


def number_of(value: Any) -> int | None:
    """An integer, also one written as digits."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str) and 0 < len(value) <= 7 and value.removeprefix("-").isdecimal():
        return int(value)
    return None


def http_status(parts: Parts) -> str | None:
    """An HTTP status of 400 to 599 with little else beside it."""
    if any(key.lower() == "headers" for key in list(parts.result)[:40] if isinstance(key, str)):
        return None  # the answer of a tool that makes requests
    for role in ("http", "status", "code"):
        for key, value in parts.of(role):
            number = number_of(value)
            if number is None or not 400 <= number <= 599:
                continue
            visited = not _ADDRESSES.isdisjoint(parts.result)  # a page was asked for, and this is what it answered
            said = parts.text("error_text", "error") if visited else detail(parts)
            if visited and not said and "message" not in parts.result:
                continue
            alone = len(parts.result) <= 2
            if role == "http" or (role == "status" and (said or alone)) or (role == "code" and said and _is_short(parts)):
                return labelled(f"{key}={number}", said)
    return None


_ADDRESSES: Final = frozenset({"url", "uri", "href", "final_url", "elapsed_ms", "request"})


def _is_short(parts: Parts) -> bool:
    """No more than a code, a message and small facts: not an entity that happens to have a field `code`."""
    return len(parts.result) <= 8 and not any(isinstance(value, list) and value for value in parts.result.values())


def error_code(parts: Parts) -> str | None:
    """A code that names an error, beside a message."""
    for key, value in parts.of("code"):
        label = f"{key}={value}"[:80]
        plain = key.lower().replace("_", "")
        sure = plain not in {"code", "retcode", "resultcode", "subcode"}
        if isinstance(value, str) and not said_nothing(value):
            said = detail(parts)
            posix = bool(_POSIX.match(value)) and (said or "errno" in parts.result or "syscall" in parts.result)
            if (
                posix
                or (sure and number_of(value) is None and (said or len(parts.result) <= 3))
                or (said and _CODE_WORDS.search(value[:80]) and _is_short(parts))
            ):
                return labelled(label, said)
        number = number_of(value)
        if number and _means_failure(parts, number, sure=sure):
            return labelled(label, detail(parts))
    return None


def _means_failure(parts: Parts, number: int, *, sure: bool) -> bool:
    said = detail(parts)
    if sure:
        return bool(said) or len(parts.result) <= 4
    if not said or number == 200 or _GOOD_WORDS.match(said):
        return False
    has_data = any(not is_empty(value) for _, value in parts.of("envelope"))
    return -32768 <= number <= -32000 or (len(parts.result) <= 4 and not has_data and any(k in parts.result for k in ("msg", "details")))


def error_kind(parts: Parts) -> str | None:
    """A type or name of an error beside a message."""
    for key, value in [*parts.of("error_kind"), *parts.of("tasktype")]:
        if not isinstance(value, str) or not value or len(value) > 160:
            continue
        plain = key.lower().replace("_", "")
        named = plain not in {"type", "object", "kind", "name"}
        is_error = value.lower() in {"error", "exception", "failure", "fault"} or value.endswith(("Error", "Exception", "Fault"))
        said = detail(parts)
        if (
            not named
            and plain != "type"
            and not any(says(parts.result.get(name)) for name in ("message", "Message", "msg", "error", "stack"))
        ):
            continue
        if (named and (said or plain == "functionerror")) or (is_error and said and _is_short(parts)):
            return labelled(f"{key}={value}", said)
    return None


def problem_document(parts: Parts) -> str | None:
    """RFC 9457: a `type` URI or `about:blank`, a `title`, and a `status` or a `detail`."""
    result = parts.result
    kind, title = result.get("type"), result.get("title")
    if (
        not isinstance(kind, str)
        or not isinstance(title, str)
        or not (kind == "about:blank" or "://" in kind[:12] or kind.startswith(("urn:", "/")))
    ):
        return None
    status = number_of(result.get("status"))
    sure = status is not None and 400 <= status <= 599
    if sure or ("detail" in result and re.search(r"error|problem|rfc|invalid|denied|not-found", kind[:300])):
        return labelled(f"status={status}" if sure else "problem", f"{title[:500]}: {describe(result.get('detail'))}".rstrip(": "))
    return None


def exit_code(parts: Parts) -> str | None:
    """An exit code other than 0 beside a message or error output."""
    for key, value in parts.of("exit"):
        number = number_of(value)
        if not number or not -64 <= number <= 4_294_967_295:
            continue
        said = parts.text("error", "error_text", "message")
        quiet = not any(isinstance(parts.result.get(name), str) and parts.result[name].strip() for name in ("stdout", "output"))
        if said or (quiet and len(parts.result) <= 3) or number in {126, 127}:
            return labelled(f"{key}={number}", said)
    return None
