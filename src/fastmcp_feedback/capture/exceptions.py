"""An exception reduced to facts on the caller's error path, so that no traceback outlives the call.

What counts as "the exception" is what the tool's author raised: FastMCP wraps it (`Error calling tool 'x': ...`), and
its wrapper is taken off here. Facts are read, never interpreted; `shaping.failure` says whose fault it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any, Final

from ..raw import ExceptionFacts

UNKNOWN_TOOL: Final = "unknown_tool"
BAD_ARGUMENTS: Final = "bad_arguments"

_MIN_MESSAGE_CHARS: Final = 8192
_MESSAGE_FACTOR: Final = 16  # redaction needs more than what is kept: it must see whole secrets, and shortens some
_MAX_CHAIN: Final = 8  # exceptions looked at: the error, its causes, members of groups
_MAX_FAMILIES: Final = 64
_MAX_BAD_ARGUMENTS: Final = 32
_MAX_ARGUMENT_CHARS: Final = 128

# How FastMCP begins the texts of its own wrappers; the last two stand in for the text of an upstream's answer.
_WRAPPER_TEXTS: Final = ("Error calling tool ", "Upstream request timed out", "Rate limited by upstream API")
# FastMCP 4 marks a pydantic error of the tool's body with this, so as not to take it for refused arguments.
_BODY_MARK: Final = "_ToolBodyError"
# A mistake of the handler itself: what it was handling at that moment did not cause it.
_OWN_MISTAKES: Final = (ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, TypeError)
# Modules between a request and a tool's body; those that call the body; any other module is an author's.
_MACHINERY: Final = ("fastmcp.", "pydantic", "anyio", "asyncio", "concurrent.", "contextlib", "uncalled_for", "docket", "threading")
_CALLS_A_BODY: Final = ("fastmcp.tools", "fastmcp.server.dependencies", "fastmcp.utilities", "pydantic", "anyio", "uncalled_for", "docket")
_MCP_CLIENTS: Final = ("mcp.client", "mcp.shared.session", "fastmcp.client")
_BAD_GATEWAY: Final = 502  # RFC 9110 section 15.6.3: an invalid response from the server behind
_DULL: Final = frozenset({object, BaseException, Exception})

# gRPC's codes as the HTTP statuses that Google's API mapping gives them.
_GRPC_STATUS: Final = {
    "CANCELLED": 499, "UNKNOWN": 500, "INVALID_ARGUMENT": 400, "DEADLINE_EXCEEDED": 504, "NOT_FOUND": 404, "ALREADY_EXISTS": 409,
    "PERMISSION_DENIED": 403, "RESOURCE_EXHAUSTED": 429, "FAILED_PRECONDITION": 400, "ABORTED": 409, "OUT_OF_RANGE": 400,
    "UNIMPLEMENTED": 501, "INTERNAL": 500, "UNAVAILABLE": 503, "DATA_LOSS": 500, "UNAUTHENTICATED": 401,
}  # fmt: skip
# Words of AWS error codes that mean "slower, please", whatever the HTTP status.
_THROTTLED: Final = ("Throttl", "TooManyRequests", "LimitExceeded", "SlowDown")


def describe_exception(exc: BaseException, *, limit_chars: int) -> ExceptionFacts:
    """The facts of what a call raised.

    `type_name` and `message` are those of the error itself: one step through FastMCP's own wrapper to its cause; a
    `ToolError` that the author raised counts as itself, with or without a cause. The message is raw and keeps at least
    `limit_chars` characters (16 times that, at least 8192): redaction and the final cut come later.

    >>> describe_exception(ValueError("disk full"), limit_chars=500).type_name
    'ValueError'
    """
    error = _without_wrapper(exc)
    chain = list(_chain(error))
    malformed = _is_malformed_answer(error)
    kind, names = (None, ()) if malformed else _refusal(error, wrapped=error is not exc)
    return ExceptionFacts(
        type_name=type(error).__name__,
        message=_message(error, max(_MESSAGE_FACTOR * limit_chars, _MIN_MESSAGE_CHARS)),
        families=_families(chain),
        kind=kind,
        bad_arguments=names,
        status_code=_BAD_GATEWAY if malformed else next((status for link in chain if (status := _status(link)) is not None), None),
    )


def _message(error: BaseException, limit_chars: int) -> str:
    try:
        return str(error)[:limit_chars]
    except Exception:  # noqa: BLE001 - a foreign __str__
        return f"<unprintable {type(error).__name__}>"


# -- FastMCP's own doings


def _is_fastmcp(exc: BaseException, name: str) -> bool:
    """Is this FastMCP's exception of that name, or one derived from it?"""
    return any(cls.__name__ == name and cls.__module__.startswith("fastmcp.") for cls in type(exc).__mro__)


def _without_wrapper(exc: BaseException) -> BaseException:
    cause = exc.__cause__
    if cause is None or type(exc).__name__ != "ToolError" or not _is_fastmcp(exc, "ToolError"):
        return exc
    if not _message(exc, 64).startswith(_WRAPPER_TEXTS) or not _raised_by_fastmcp(exc):
        return exc
    if type(cause).__name__ == _BODY_MARK and cause.__cause__ is not None:
        return cause.__cause__
    return cause


def _frames(traceback: TracebackType | None) -> Iterator[str]:
    """The modules of a traceback's frames, outermost first."""
    while traceback is not None:
        yield str(traceback.tb_frame.f_globals.get("__name__", ""))
        traceback = traceback.tb_next


def _raised_by_fastmcp(exc: BaseException) -> bool:
    """Is FastMCP's code where this was raised? An error without a traceback is taken at its word."""
    module = "fastmcp.server"
    for module in _frames(exc.__traceback__):  # noqa: B007 - the last one is asked for
        pass
    return module.startswith("fastmcp.")


def _came_through_a_body(exc: BaseException) -> bool:
    """Did a tool's body stand between FastMCP and where this was raised? Then it refused another call, one of the body's own."""
    last_known = ""
    for module in _frames(exc.__traceback__):
        if module.startswith(_MACHINERY):
            last_known = module
        elif last_known.startswith(_CALLS_A_BODY):
            return True
    return False


def _refusal(error: BaseException, *, wrapped: bool) -> tuple[str | None, tuple[str, ...]]:
    """FastMCP's refusal before the tool ran, with the names of refused arguments."""
    if wrapped:
        return None, ()
    if _is_fastmcp(error, "NotFoundError"):
        return (UNKNOWN_TOOL if _raised_by_fastmcp(error) and not _came_through_a_body(error) else None), ()
    if _is_fastmcp(error, "ValidationError"):
        if not _raised_by_fastmcp(error):  # the author's own words for the same thing
            return BAD_ARGUMENTS, ()
        names = _argument_names(error.__cause__) or _listed_names(error)
    elif _is_pydantic(error):
        names = _argument_names(error)
    else:
        return None, ()
    return (None, ()) if _came_through_a_body(error) else (BAD_ARGUMENTS, names)


def _is_malformed_answer(error: BaseException) -> bool:
    """Did an MCP client, such as a proxy's, refuse what the server behind it answered?"""
    return _is_pydantic(error) and any(module.startswith(_MCP_CLIENTS) for module in _frames(error.__traceback__))


def _is_pydantic(exc: BaseException | None) -> bool:
    return type(exc).__name__ == "ValidationError" and type(exc).__module__.startswith("pydantic")


def _argument_names(error: Any) -> tuple[str, ...]:
    """The first step of each place that pydantic complains about, once each."""
    if not _is_pydantic(error):
        return ()
    try:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        places = [entry["loc"][0] for entry in found if entry.get("loc")]
    except Exception:  # noqa: BLE001 - an error class that only looks like pydantic's
        return ()
    return _unique(str(place) for place in places)


def _listed_names(error: BaseException) -> tuple[str, ...]:
    """The names in FastMCP's own words: `Unknown arguments: a, b. ...`, `Missing required arguments: a`."""
    head, _, rest = _message(error, 2048).partition(" arguments: ")
    if head not in {"Unknown", "Missing required"}:
        return ()
    return _unique(name.strip() for name in rest.partition(". ")[0].split(","))


def _unique(names: Iterator[str]) -> tuple[str, ...]:
    found = dict.fromkeys(name[:_MAX_ARGUMENT_CHARS] for name in names if name)
    return tuple(found)[:_MAX_BAD_ARGUMENTS]


# -- causes, families, status


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, then its causes and the members of groups, nearest first; bounded, each once."""
    queue, seen = [error], set[int]()
    while queue and len(seen) < _MAX_CHAIN:
        link = queue.pop(0)
        if id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        if isinstance(link, BaseExceptionGroup):
            queue.extend(link.exceptions[:_MAX_CHAIN])
        cause = link.__cause__ or _handled(link)
        if cause is not None:
            queue.append(cause)


def _handled(link: BaseException) -> BaseException | None:
    """What was being handled when this was raised without `from`; a bug in the handler has no such cause."""
    if link.__suppress_context__ or isinstance(link, _OWN_MISTAKES):
        return None
    return link.__context__


def _families(chain: list[BaseException]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for link in chain:
        for cls in type(link).__mro__:
            if cls not in _DULL:
                names[f"{cls.__module__}.{cls.__qualname__}"] = None
    return tuple(names)[:_MAX_FAMILIES]


def _status(link: BaseException) -> int | None:
    """An HTTP status on the exception or its response, in the places where clients of services keep it."""
    try:
        response = getattr(link, "response", None)
        if isinstance(response, dict):  # botocore
            return _aws_status(response)
        for holder, name in ((response, "status_code"), (response, "status"), (link, "status_code"), (link, "status"), (link, "code")):
            value = getattr(holder, name, None)
            if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599:
                return int(value)
        return _grpc_status(link)
    except Exception:  # noqa: BLE001 - foreign properties
        return None


def _aws_status(response: dict[str, Any]) -> int | None:
    if any(word in str(response.get("Error", {}).get("Code", "")) for word in _THROTTLED):
        return 429
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return status if isinstance(status, int) else None


def _grpc_status(link: BaseException) -> int | None:
    if not any(cls.__name__ == "RpcError" for cls in type(link).__mro__):
        return None
    ask = getattr(link, "code", None)
    code = ask() if callable(ask) else None
    return _GRPC_STATUS.get(getattr(code, "name", ""))
