"""Whose fault a failure was: from the facts of the exception, or from the words of a soft error.

Nothing is imported from the libraries whose exceptions are told apart; see `families`. What cannot be told is the
server's own (`server`), because that is where somebody has to look first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from ..raw import ExceptionFacts
from ..records import Failure
from .families import BY_STATUS, CONNECTION, OWN, OWN_STATUS, RATE_LIMITED, TIMEOUT, UNAVAILABLE, category_of, split
from .fingerprint import fingerprint

# Fault -> category -> what it means. docs/outcomes.md shows this table.
CATEGORIES: Final[dict[str, dict[str, str]]] = {
    "caller": {
        "unknown_tool": "no tool of that name, or not for this caller",
        "bad_arguments": "the arguments were refused, by FastMCP before the tool ran or by the tool's own words",
        "forbidden": "FastMCP's authorization refused the call",
        "too_many_calls": "FastMCP's own rate limit refused the call",
    },
    "upstream": {
        "timeout": "what the tool called did not answer in time (also HTTP 408 and 504)",
        "connection": "what the tool called could not be reached, or hung up",
        "rate_limited": "what the tool called wants fewer requests (HTTP 429, throttling)",
        "unavailable": "what the tool called failed itself (other HTTP 5xx), or its answer broke the protocol",
    },
    "server": {
        "exception": "the tool raised",
        "tool_error": "the tool raised `ToolError`: its author's own words to the caller",
        "reported": "the tool returned a result that says it failed",
        "tool_timeout": "the tool did not finish within its own `@tool(timeout=...)`",
        "upstream_refused": "what the tool called refused the request (HTTP 4xx): wrong credentials, a wrong address, a wrong request",
    },
    "cancelled": {
        "cancelled": "the client gave up on the call, or its connection went away",
        "interrupted": "the server ended while the call ran",
    },
}

_HEAD_CHARS: Final = 500  # of a text that is searched for words
_UNEXPLAINED: Final = {("server", "reported"), ("server", "tool_error")}
_TOOL_TIMEOUT: Final = re.compile(r"execution timed out after \d")

# Words of soft errors and of ToolErrors, in the order in which they are tried. Bounded repetitions only.
_AFTER_CODE: Final = r"\b(?:http|status|code|error)\W{0,3}(?:code\W{0,3})?"
_ARGUMENT: Final = r"(?:arguments?|parameters?|params?|inputs?)"
_WORDS: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    (
        "upstream",
        RATE_LIMITED,
        (
            r"rate.?limit",
            r"too many requests",
            r"throttl",
            r"quota (?:has been )?exceeded",
            r"resource_?exhausted",
            _AFTER_CODE + r"429\b",
            r"^429\b",
        ),
    ),
    (
        "upstream",
        TIMEOUT,
        (r"timed[ -]?out", r"\btime-?out\b", r"deadline[ _]?exceeded", r"\betimedout\b", _AFTER_CODE + r"(?:408|504)\b", r"^504\b"),
    ),
    (
        "upstream",
        CONNECTION,
        (
            r"connection (?:was |has been )?(?:refused|reset|aborted|closed|lost|error|failed|failure)",
            r"(?:cannot|could not|couldn't|can't|unable to|failed to) (?:connect|reach|resolve)",
            r"econnrefused|econnreset|enotfound|eai_again|ehostunreach|getaddrinfo",
            r"name or service not known|name resolution|(?:network|host) is unreachable|no route to host|broken pipe|server disconnected",
        ),
    ),
    (
        "upstream",
        UNAVAILABLE,
        (
            r"service (?:is )?(?:temporarily )?unavailable|bad gateway|internal server error|temporarily overloaded|overloaded_error",
            _AFTER_CODE + r"5\d\d\b",
            r"^50[0-3]\b",
        ),
    ),
    (
        "caller",
        "bad_arguments",
        (
            r"\b(?:invalid|missing|unknown|unexpected|unsupported|bad|illegal) (?:or missing )?(?:required )?(?:\w{1,30} )?"
            + _ARGUMENT
            + r"\b",
            r"\b(?:" + _ARGUMENT + r"|field)\b[^.\n]{0,60}\b(?:is|are) (?:required|missing|invalid|not valid|not allowed)",
            r"-32602\b|\bvalidation errors?\b",
            r"\bmust (?:not )?be (?:one of|a|an|at least|at most|between|in|within|positive|greater|less|>|<)",
        ),
    ),
)
_PATTERNS: Final = tuple((fault, category, re.compile("|".join(parts), re.IGNORECASE)) for fault, category, parts in _WORDS)

# What refuses an argument when its name follows: "Invalid timezone: ...".
_REFUSAL: Final = re.compile(r"\b(?:invalid|unknown|unsupported|malformed|illegal|no such)[ \t]{1,3}[`'\"]?", re.IGNORECASE)
_MAX_NAMES: Final = 32

_STATUS_KEYS: Final = ("status_code", "statusCode", "http_status", "httpStatus", "status", "code")


def derive_failure(
    *,
    tool: str,
    outcome: str,
    error_type: str | None,
    error_message: str | None,
    exception: ExceptionFacts | None,
    cancelled: bool,
    result: object = None,
    arguments: Iterable[str] = (),
) -> Failure | None:
    """Fault, category, fingerprint and refused arguments of a call; None for a call that is `ok`.

    `error_message` is the record's own (redacted, cut): fingerprints must not depend on what redaction removes.
    `arguments` are the names of those that the call had: a message such as `Invalid timezone: ...` refuses one of them.

    >>> derive_failure(
    ...     tool="t", outcome="soft_error", error_type="SoftError", error_message="error: HTTP 503", exception=None, cancelled=False
    ... ).fault
    'upstream'
    """
    if outcome == "ok":
        return None
    if cancelled or error_type == "CancelledError":
        fault, category = "cancelled", "cancelled"
    elif exception is not None:
        fault, category = _of_exception(exception)
    elif outcome == "soft_error":
        fault, category = _of_words(error_message) or _of_result(result) or ("server", "reported")
    else:
        fault, category = ("cancelled", "interrupted") if error_type == "Interrupted" else ("server", "exception")
    names = exception.bad_arguments if exception is not None else ()
    if (fault, category) in _UNEXPLAINED:
        refused = _refused_argument(error_message or "", arguments)
        if refused is not None:
            fault, category, names = "caller", "bad_arguments", (refused,)
    return Failure(fault, category, fingerprint(tool, error_type, error_message), names)


def _of_exception(facts: ExceptionFacts) -> tuple[str, str]:
    found = _of_fastmcp(facts)
    if found is not None:
        return found
    category = category_of(facts.families)
    if category == BY_STATUS or (category is None and not _speaks_for_itself(facts.families)):
        found = _of_status(facts.status_code, known=category == BY_STATUS)
    elif category not in {None, OWN}:
        found = "upstream", str(category)
    if found is not None:
        return found
    if "fastmcp.exceptions.ToolError" in facts.families[:1] or _is_protocol_error(facts.families):
        return _of_words(facts.message) or ("server", "tool_error")
    return "server", "exception"


def _of_fastmcp(facts: ExceptionFacts) -> tuple[str, str] | None:
    """Refusals by FastMCP and its middleware, a tool's own time limit, and the end of the process."""
    if facts.kind is not None:
        return "caller", facts.kind
    if facts.type_name == "KeyboardInterrupt":
        return "cancelled", "interrupted"
    for family in facts.families:
        package, name = split(family)
        if package == "fastmcp" and name == "AuthorizationError":
            return "caller", "forbidden"
        if package == "fastmcp" and name == "RateLimitError":
            return "caller", "too_many_calls"
    if _is_protocol_error(facts.families) and _TOOL_TIMEOUT.search(facts.message[:_HEAD_CHARS]):
        return "server", "tool_timeout"
    return None


def _is_protocol_error(families: Iterable[str]) -> bool:
    return any(split(family) in {("mcp", "McpError"), ("mcp", "MCPError")} for family in families)


def _speaks_for_itself(families: Iterable[str]) -> bool:
    """Is the status on this exception what the server itself wants to answer?"""
    return any(split(family)[0] in OWN_STATUS for family in families) and not any("httpx" in family for family in families)


def _of_status(status: int | None, *, known: bool) -> tuple[str, str] | None:
    """What an HTTP status says; `known` when it is sure to be an upstream's."""
    if status is None:
        return None
    if status == 429:
        return "upstream", RATE_LIMITED
    if status in {408, 504}:
        return "upstream", TIMEOUT
    if status >= 500:
        return "upstream", UNAVAILABLE
    return ("server", "upstream_refused") if known and status >= 400 else None


def _of_words(text: str | None) -> tuple[str, str] | None:
    if not text:
        return None
    head = text[:_HEAD_CHARS]
    for fault, category, pattern in _PATTERNS:
        if pattern.search(head):
            return fault, category
    return None


def _refused_argument(text: str, arguments: Iterable[str]) -> str | None:
    """The argument that the words refuse by its name, whatever stands between the words of the name."""
    for refusal in _REFUSAL.finditer(text[:_HEAD_CHARS]):
        rest = _plain_words(text[refusal.end() : refusal.end() + 80])
        for name in tuple(arguments)[:_MAX_NAMES]:
            plain = _plain_words(name)
            if len(plain) > 1 and rest.startswith(plain) and not rest[len(plain) : len(plain) + 1].isalnum():
                return name
    return None


def _plain_words(name: str) -> str:
    return name.lower().replace("_", " ").replace("-", " ")


def _of_result(result: Any) -> tuple[str, str] | None:
    """A status of 429 or 5xx that a soft error's result carries beside its message."""
    if not isinstance(result, dict):
        return None
    for key in _STATUS_KEYS:
        value = result.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599:
            return _of_status(value, known=False)
    return None
