"""What capture hands to shaping: one call as it was seen, payloads already bytes, nothing interpreted yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
    """Who and where: read from FastMCP while the call runs. Once it is given out it may be shared between calls."""

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


class RawCall:
    """One call between capture and shaping. Mutable while the call runs, then handed over once.

    Made for the caller's path: only what is known at the start is set, everything else is a default of the class, and
    the id is drawn when somebody asks, which is mostly the shaping thread.
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

    _id: str | None = None

    def __init__(self, owner: object, tool: str, started_ns: int, mode: str, args: Encoded, context: CallContext) -> None:
        self.owner = owner
        self.tool = tool
        self.started_ns = started_ns
        self.mode = mode
        self.args = args
        self.context = context

    @property
    def id(self) -> str:
        """A random UUID; the same for all who ask, whichever thread asks first."""
        if self._id is None:
            # One step for the interpreter, so no lock, which a signal handler or a forked child could find taken.
            self.__dict__.setdefault("_id", new_id())
        return self._id  # type: ignore[return-value] # set by now

    @property
    def parent_call_id(self) -> str | None:
        """The id of the call whose tool makes this one."""
        return self.parent.id if self.parent is not None else None


def mark_error(payload: Any) -> dict[str, Any]:
    """What a classifier sees of a result that the tool marked as an error without raising."""
    return {**payload, "isError": True} if isinstance(payload, dict) else {"isError": True, "content": payload}
