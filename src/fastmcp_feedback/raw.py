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
    its bases and its causes, nearest first, for fault attribution without importing anybody's library.
    `bad_arguments` names the arguments that validation refused; `status_code` is an HTTP status found on the exception
    or its response. `kind` is FastMCP's own word for a refusal before the tool ran (`unknown_tool`, `bad_arguments`),
    else None. `message` is raw: not yet redacted.
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
    # The subject of the call's verified access token: already part of the conversation key.
    verified_user: str | None = None


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What stays in memory of a shaped call: a record without payloads, or the whole one when sampling left it out."""

    record: Any
    kept: bool


@dataclass(slots=True, eq=False)
class RawCall:
    """One call between capture and shaping. Mutable while the call runs, then handed over once.

    `started_ns` is nanoseconds since the epoch. `result` is None when the tool raised.
    """

    id: str
    tool: str
    started_ns: int
    mode: str
    args: Encoded
    context: CallContext
    owner: object = None
    duration_ns: int = 0
    ended: bool = False
    result: Encoded | None = None
    # A large result whose fast encoding has to be checked off the caller's path (`jsonsafe.needs_care`).
    late_result: Any = None
    is_error: bool = False
    # What an inline classifier said; `classified` tells "said ok" from "not asked yet".
    classified: bool = False
    soft_error: str | None = None
    cancelled: bool = False
    exception: ExceptionFacts | None = None
    exception_object: BaseException | None = None
    user_sub: str | None = None
    caller_kind: str | None = None
    client_id: str | None = None
    server_version: str | None = None
    identity: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] | None = None
    parent_call_id: str | None = None
    internal: bool = False
    had_events: bool = False
    # Set by shaping: what linking may show, and the values that redaction removed (hashes only).
    outcome: CallOutcome | None = None
    carry: Any = None
