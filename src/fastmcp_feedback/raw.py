"""What capture hands to shaping: one call as it was seen, payloads already bytes, nothing interpreted yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .jsonsafe import Encoded


@dataclass(frozen=True, slots=True)
class ExceptionFacts:
    """An exception reduced to what shaping needs, so that no traceback outlives the call.

    `type_name` is the class shown as `error_type`; `families` are the qualified names (`module.Class`) of the class,
    its bases and its causes, nearest first, for fault attribution without importing anybody's library. `bad_arguments` names the arguments that validation
    refused; `status_code` is an HTTP status found on the exception or its response. `kind` is FastMCP's own word for
    a refusal before the tool ran (`unknown_tool`, `bad_arguments`), else None. `message` is raw: not yet redacted.
    """

    type_name: str
    message: str
    families: tuple[str, ...] = ()
    kind: str | None = None
    bad_arguments: tuple[str, ...] = ()
    status_code: int | None = None


@dataclass(slots=True)
class CallContext:
    """Who and where: read from FastMCP while the call runs."""

    session_id: str | None = None
    request_id: str | None = None
    client_id: str | None = None
    conversation_key: str | None = None
    conversation_basis: str | None = None
    trace_id: str | None = None
    span_id: str | None = None


@dataclass(slots=True, eq=False)
class RawCall:
    """One call between capture and shaping. Mutable while the call runs, then handed over once.

    `started_ns` is nanoseconds since the epoch. `result` is None when the tool raised. `late` holds a value whose
    encoding has to be checked off the caller's path (see `jsonsafe.needs_care`).
    """

    id: str
    tool: str
    started_ns: int
    mode: str
    args: Encoded
    context: CallContext
    duration_ns: int = 0
    result: Encoded | None = None
    is_error: bool = False
    cancelled: bool = False
    exception: ExceptionFacts | None = None
    exception_object: BaseException | None = None
    identity: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] | None = None
    parent_call_id: str | None = None
    internal: bool = False
    had_events: bool = False
    late: Any = None
