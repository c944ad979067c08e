"""The two records that travel through the recorder, and the derived facts that ride along.

A record is made once, by the shaping stage, and never changed. Its dataclass fields are the user's specification;
what is derived beside them (`Derived`) lives in one private slot that `copy`, `dataclasses.replace` and `pickle`
carry and that `to_row()` and `to_dict()` never show.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field, fields
from datetime import datetime
from typing import Any, ClassVar, Literal

from .ids import new_id
from .jsonsafe import Encoded

Outcome = Literal["ok", "soft_error", "error"]
Fault = Literal["caller", "upstream", "server", "cancelled"]
LinkRule = Literal["session", "user_window", "reference"]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call failed.

    `fault` is who has to mend it: `caller`, `upstream`, `server` or `cancelled`. `category` is a finer word
    (`bad_arguments`, `timeout`, ...), `fingerprint` groups equal failures, `bad_arguments` names refused arguments.

    >>> from fastmcp_feedback.instrumentation import Failure
    >>> Failure("caller", "bad_arguments", "f1-0c9a", ("scene",)).bad_arguments
    ('scene',)
    """

    fault: str
    category: str
    fingerprint: str
    bad_arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Derived:
    """Facts derived beside a record's own fields; DatabaseSink stores them in columns of their own."""

    failure: Failure | None = None
    conversation_key: str | None = None
    conversation_basis: str | None = None
    parent_call_id: str | None = None
    trace_id: str | None = None
    span_id: str | None = None
    internal: bool = False


NO_DERIVED = Derived()


class _Carrier:
    """Holds the private slot; a base class so that the slot is not a dataclass field."""

    __slots__ = ("_derived",)

    _derived: Derived | None

    record_type: ClassVar[str]

    @property
    def derived(self) -> Derived:
        """The derived facts, or an empty set of them."""
        return self._derived or NO_DERIVED

    @property
    def conversation_key(self) -> str | None:
        """Groups the calls of one conversation, whatever the protocol version; None when nothing tells."""
        return self.derived.conversation_key

    @property
    def conversation_basis(self) -> str | None:
        """What the conversation key was derived from: `session`, `process`, `baggage` or `user`."""
        return self.derived.conversation_basis

    @property
    def trace_id(self) -> str | None:
        """W3C trace id (32 hex digits) of the current span or the request's `traceparent`."""
        return self.derived.trace_id


def _getstate(record: Any) -> tuple[list[Any], Derived | None]:
    return [getattr(record, f.name) for f in fields(record)], record._derived  # noqa: SLF001 - this is the record


def _setstate(record: Any, state: tuple[list[Any], Derived | None]) -> None:
    values, derived = state
    for f, value in zip(fields(record), values, strict=True):
        object.__setattr__(record, f.name, value)
    object.__setattr__(record, "_derived", derived)


@dataclass(frozen=True, slots=True)
class ToolCallRecord(_Carrier):
    """One tool call, built after the tool returned or raised. Times are UTC, durations milliseconds, sizes bytes.

    >>> from datetime import UTC, datetime
    >>> from fastmcp_feedback.instrumentation import ToolCallRecord
    >>> call = ToolCallRecord("render", datetime(2026, 10, 2, 3, 44, tzinfo=UTC), duration_ms=0.5, ok=True, mode="meta")
    >>> call.record_type, call.outcome, call.to_dict()["started_at"]
    ('tool_call', 'ok', '2026-10-02T03:44:00+00:00')
    """

    record_type: ClassVar[str] = "tool_call"

    tool: str
    started_at: datetime
    duration_ms: float
    ok: bool
    mode: str
    outcome: str = "ok"
    id: str = field(default_factory=new_id)
    error_type: str | None = None
    error_message: str | None = None
    session_id: str | None = None
    request_id: str | None = None
    client_id: str | None = None
    user_sub: str | None = None
    caller_kind: str | None = None
    identity: dict[str, Any] = field(default_factory=dict)
    server_version: str | None = None
    args_size: int | None = None
    result_size: int | None = None
    args: Any = None
    result: Any = None
    extra: dict[str, Any] = field(default_factory=dict)
    sample_rate: float | None = None
    _derived: InitVar[Derived | None] = None

    # In the class itself: `slots=True` would add its own pair, which forgets the private slot.
    __getstate__ = _getstate
    __setstate__ = _setstate

    def __post_init__(self, _derived: Derived | None) -> None:
        object.__setattr__(self, "_derived", _derived)

    @property
    def failure(self) -> Failure | None:
        """Why the call failed, or None when it did not or nothing was derived."""
        return self.derived.failure

    @property
    def fingerprint(self) -> str | None:
        """Groups equal failures; None for a call that did not fail."""
        failure = self.derived.failure
        return failure.fingerprint if failure else None

    @property
    def parent_call_id(self) -> str | None:
        """The call whose tool made this call, or None."""
        return self.derived.parent_call_id

    @property
    def internal(self) -> bool:
        """True for calls of the recorder's own feedback and insight tools."""
        return self.derived.internal

    def to_row(self) -> dict[str, Any]:
        """Column values: the fields by name, `started_at` as an aware datetime."""
        return {name: getattr(self, name) for name in CALL_FIELDS}

    def to_dict(self) -> dict[str, Any]:
        """The same, JSON-friendly: `started_at` as ISO 8601 text."""
        row = self.to_row()
        row["started_at"] = self.started_at.isoformat()
        return row


@dataclass(frozen=True, slots=True)
class EventRecord(_Carrier):
    """One event from `record_event` or `record_llm_call`. `occurred_at` is UTC.

    >>> from datetime import UTC, datetime
    >>> from fastmcp_feedback.instrumentation import EventRecord
    >>> EventRecord("deploy", datetime(2026, 10, 2, tzinfo=UTC), attrs={"build": 7}).to_row()["attrs"]
    {'build': 7}
    """

    record_type: ClassVar[str] = "event"

    kind: str
    occurred_at: datetime
    id: str = field(default_factory=new_id)
    key: str | None = None
    call_id: str | None = None
    session_id: str | None = None
    user_sub: str | None = None
    caller_kind: str | None = None
    client_id: str | None = None
    server_version: str | None = None
    attrs: dict[str, Any] = field(default_factory=dict)
    _derived: InitVar[Derived | None] = None

    # In the class itself: `slots=True` would add its own pair, which forgets the private slot.
    __getstate__ = _getstate
    __setstate__ = _setstate

    def __post_init__(self, _derived: Derived | None) -> None:
        object.__setattr__(self, "_derived", _derived)

    def to_row(self) -> dict[str, Any]:
        """Column values: the fields by name, `occurred_at` as an aware datetime."""
        return {name: getattr(self, name) for name in EVENT_FIELDS}

    def to_dict(self) -> dict[str, Any]:
        """The same, JSON-friendly: `occurred_at` as ISO 8601 text."""
        row = self.to_row()
        row["occurred_at"] = self.occurred_at.isoformat()
        return row


@dataclass(frozen=True, slots=True)
class CallLink:
    """One call linked to a report. `position` counts from 0, oldest first; `rule` says why it matched.

    >>> from datetime import UTC, datetime
    >>> from fastmcp_feedback.instrumentation import CallLink
    >>> CallLink("25568541-cf28-472c-9537-3151d7d21be7", "session", "render", datetime.now(UTC), ok=False, position=0).rule
    'session'
    """

    call_id: str
    rule: str
    tool: str
    started_at: datetime
    ok: bool
    position: int


class _Payload:
    """A slot that may hold `Encoded` bytes and decodes them when somebody looks.

    Sinks of ours write the bytes as they are (`encoded_payload`); only readers of the attribute pay for decoding.
    """

    def __init__(self, slot: Any) -> None:
        self._slot = slot

    def __get__(self, record: Any, owner: type | None = None) -> Any:
        if record is None:
            return self._slot
        value = self._slot.__get__(record, owner)
        if type(value) is Encoded:
            value = value.decode()
            self._slot.__set__(record, value)
        return value

    def __set__(self, record: Any, value: Any) -> None:
        self._slot.__set__(record, value)

    def encoded(self, record: Any) -> Encoded | None:
        """The bytes, when nobody has looked at the value yet."""
        value = self._slot.__get__(record)
        return value if type(value) is Encoded else None


# The InitVar's default must not shadow the slot of the base class.
del ToolCallRecord._derived  # type: ignore[misc]  # noqa: SLF001 - our own class
del EventRecord._derived  # type: ignore[misc]  # noqa: SLF001 - our own class

_PAYLOADS: dict[tuple[type, str], _Payload] = {}
for _cls, _name in ((ToolCallRecord, "args"), (ToolCallRecord, "result"), (EventRecord, "attrs")):
    _PAYLOADS[_cls, _name] = _Payload(_cls.__dict__[_name])
    setattr(_cls, _name, _PAYLOADS[_cls, _name])

CALL_FIELDS: tuple[str, ...] = tuple(f.name for f in fields(ToolCallRecord))
EVENT_FIELDS: tuple[str, ...] = tuple(f.name for f in fields(EventRecord))


def encoded_payload(record: ToolCallRecord | EventRecord, name: str) -> Encoded | None:
    """The JSON bytes of `args`, `result` or `attrs` when the record still holds them undecoded, else None."""
    return _PAYLOADS[type(record), name].encoded(record)
