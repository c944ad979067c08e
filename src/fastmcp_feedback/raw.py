"""What capture hands to shaping: one call as it was seen, payloads already bytes, nothing interpreted yet."""

from __future__ import annotations

import threading
from contextvars import Context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from .ids import new_id

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


class Owner(Protocol):
    """Who captured a call."""

    def read_context(self, surroundings: Context) -> CallContext:
        """Who and where, from a copy of the context variables around a direct call."""
        ...


class RawCall:
    """One call between capture and shaping. Mutable while the call runs, then handed over once.

    Made for the caller's path: only what is known at the start is set, everything else is a default of the class;
    the id is drawn and the context of a direct call is read when somebody asks, which is mostly the shaping thread.
    `started_ns` is nanoseconds since the epoch. `result` is None when the tool raised.
    """

    duration_ns = 0
    ended = False
    result: Encoded | None = None
    # A large result whose fast encoding has to be checked off the caller's path (`jsonsafe.needs_care`).
    late_result: Any = None
    is_error = False
    # What an inline classifier said; `classified` tells "said ok" from "not asked yet".
    classified = False
    soft_error: str | None = None
    cancelled = False
    exception: ExceptionFacts | None = None
    exception_object: BaseException | None = None
    user_sub: str | None = None
    caller_kind: str | None = None
    client_id: str | None = None
    server_version: str | None = None
    identity: dict[str, Any] | None = None
    extra: dict[str, Any] | None = None
    parent: RawCall | None = None
    internal = False
    excluded = False
    had_events = False
    # Set by shaping: what linking may show, and the values that redaction removed (hashes only).
    outcome: CallOutcome | None = None
    carry: Any = None

    # One of the two is set: what was read of a request at once, or a copy of the context variables of a direct call.
    context_now: CallContext | None = None
    surroundings: Context | None = None

    _id: str | None = None

    def __init__(self, owner: Owner, tool: str, started_ns: int, mode: str, args: Encoded) -> None:
        self.owner = owner
        self.tool = tool
        self.started_ns = started_ns
        self.mode = mode
        self.args = args

    @property
    def id(self) -> str:
        """A random UUID; the same for all who ask, whichever thread asks first."""
        if self._id is None:
            with _drawing:
                if self._id is None:
                    self._id = new_id()
        return self._id

    @property
    def context(self) -> CallContext:
        """Who and where."""
        if self.context_now is None:
            self.context_now = self.owner.read_context(self.surroundings) if self.surroundings is not None else CallContext()
            self.surroundings = None
        return self.context_now

    @property
    def parent_call_id(self) -> str | None:
        """The id of the call whose tool makes this one."""
        return self.parent.id if self.parent is not None else None


_drawing = threading.RLock()
