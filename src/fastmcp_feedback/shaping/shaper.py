"""RawCall -> ToolCallRecord: outcome, redaction, size, failure. Runs on the shaping thread.

The order is the promise: the arguments are redacted first, what was removed there is removed from everything that
follows (`CarryOver`), and cutting comes last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .. import contain
from ..ids import utc_from_ns
from ..jsonsafe import Encoded, encode_json_value
from ..raw import CallOutcome, RawCall, mark_error
from ..records import Derived, Failure, ToolCallRecord
from .redact.carry import CarryOver
from .redaction import Redaction
from .texts import ShortTexts, cut_text

NO_CARRY = CarryOver.from_values([])
_SHARED = 1000
_SMALL_BYTES = 16_384


@dataclass(frozen=True, slots=True)
class ShapingOptions:
    """What shaping needs to know; see the option table of `InstrumentationMiddleware`."""

    redactor: Any
    result_classifier: Callable[[str, Any], str | None] | None
    fault_hook: Callable[[Any, BaseException | None], str | None] | None
    sample_rates: Mapping[str, float]
    random: Callable[[], float]
    max_error_chars: int
    max_payload_bytes: int | None
    server_version: str | None


class Shaper:
    """Shapes one call after the other; used by one thread at a time."""

    def __init__(self, options: ShapingOptions, breathe: Callable[[], None] | None = None) -> None:
        # Compiles its words: when a recorder is made, not with the first import and not in the first failing call.
        from .failure import derive_failure  # noqa: PLC0415 - see above

        self._derive_failure = derive_failure
        self._options = options
        self._redaction = Redaction(options.redactor, options.max_payload_bytes, breathe)
        self.texts = ShortTexts(options.redactor)
        self._plain_derived: dict[tuple[str | None, bool], Derived] = {}

    def shape(self, call: RawCall) -> tuple[ToolCallRecord, bool]:
        """The record, and whether it is kept (False: sampled out)."""
        if call.late_result is not None:
            late, call.late_result = call.late_result, None
            if call.result is not None and (b"null" in call.result.data or b"\\u0000" in call.result.data):
                call.result = encode_json_value(late)
        carry, args = NO_CARRY, None
        carried: list[str] = []
        full = call.mode == "full"
        if full or not call.classified or self._has_outlet(call):
            args = self._redaction.payload(call.args, carried, full=full, needed=True)
            if carried:
                carry = CarryOver.from_values(carried)
                args = _without(args, carry)
        outcome, message = self._outcome(call)
        result = None
        if call.result is not None and (full or message is not None):
            found: list[str] = []
            result = self._redaction.payload(call.result, found, full=full, needed=message is not None, carry=carry)
            if found:
                carry = CarryOver.from_values([*carried, *found])
                result = _without(result, carry)
        record = self._record(call, outcome, message, args, result, carry)
        keep = not self._options.sample_rates or self._keep(call, record)
        call.carry = carry.seal() if carry else None
        call.outcome = CallOutcome(_slim(record) if keep else record, keep)
        _forget_payloads(call)
        return record, keep

    def _has_outlet(self, call: RawCall) -> bool:
        """Tell whether a value of the arguments could come out anywhere else; then meta mode looks for secrets, too."""
        return (
            bool(call.exception is not None or call.is_error or call.soft_error or call.identity or call.extra or call.had_events)
            or not call.classified
        )

    # -- outcome

    def _outcome(self, call: RawCall) -> tuple[str, str | None]:
        if call.exception is not None:
            return "error", call.exception.message
        if call.result is None:
            return "error", None
        message = call.soft_error if call.classified else self._classify(call)
        if message is None:
            return "ok", None
        if isinstance(message, str):
            return "soft_error", message
        contain.warn_once("odd classifier", "result_classifier returned %s instead of text or None", type(message).__name__)
        return "ok", None

    def _classify(self, call: RawCall) -> str | None:
        classifier = self._options.result_classifier
        if classifier is None or call.result is None:
            return None
        with contain.contain("result_classifier", "the call is recorded as ok"):
            payload = call.result.decode()
            return classifier(call.tool, mark_error(payload) if call.is_error else payload)
        return None

    # -- the record

    def _record(
        self, call: RawCall, outcome: str, message: str | None, args: Encoded | None, result: Encoded | None, carry: CarryOver
    ) -> ToolCallRecord:
        options, text = self._options, self.texts.short
        facts = call.exception
        error_type = facts.type_name if facts is not None else ("SoftError" if outcome == "soft_error" else None)
        context = call.context
        identity = self._redaction.mapping(call.identity, carry) if call.identity else {}
        extra, version = self._extra(call, carry) if call.extra else ({}, None)
        record = ToolCallRecord(
            tool=carry.apply_text(text(call.tool) or "") if carry else text(call.tool) or "",
            started_at=utc_from_ns(call.started_ns),
            duration_ms=call.duration_ns / 1e6,
            ok=outcome == "ok",
            mode=call.mode,
            outcome=outcome,
            id=call.id,
            error_type=carry.apply_text(error_type) if carry and error_type else text(error_type),
            error_message=self._error_text(message, carry),
            session_id=text(context.session_id),
            request_id=text(context.request_id),
            client_id=text(call.client_id if call.client_id is not None else context.client_id),
            user_sub=text(call.user_sub),
            caller_kind=text(call.caller_kind),
            identity=identity,
            server_version=text(version or call.server_version or options.server_version),
            args_size=call.args.size,
            result_size=call.result.size if call.result is not None else None,
            args=args,
            result=result,
            extra=extra,
            sample_rate=None,
            _derived=None,
        )
        failure = self._failure(call, record) if outcome != "ok" else None
        object.__setattr__(record, "_derived", self._derived(call, failure))
        return record

    def _derived(self, call: RawCall, failure: Failure | None) -> Derived:
        """The derived facts; the many that are the same for call after call are one shared object."""
        context = call.context
        plain = failure is None and context.trace_id is None and call.parent is None
        memo = (context.conversation_key, call.internal)
        if plain and memo in self._plain_derived:
            return self._plain_derived[memo]
        derived = Derived(
            failure=failure,
            conversation_key=context.conversation_key,  # digests of our own making: nothing to redact
            conversation_basis=context.conversation_basis,
            parent_call_id=call.parent_call_id,
            trace_id=context.trace_id,
            span_id=context.span_id,
            internal=call.internal,
        )
        if plain:
            if len(self._plain_derived) > _SHARED:
                self._plain_derived.clear()
            self._plain_derived[memo] = derived
        return derived

    def _error_text(self, message: str | None, carry: CarryOver) -> str | None:
        if message is None:
            return None
        return cut_text(carry.apply_text(self._redaction.text(message)), self._options.max_error_chars)

    def _extra(self, call: RawCall, carry: CarryOver) -> tuple[dict[str, Any], str | None]:
        extra = dict(call.extra or {})
        version = extra.pop("server_version", None)
        return self._redaction.mapping(extra, carry), str(version) if version is not None else None

    def _failure(self, call: RawCall, record: ToolCallRecord) -> Failure | None:
        with contain.contain("failure attribution"):
            failure = self._derive_failure(
                tool=record.tool,
                outcome=record.outcome,
                error_type=record.error_type,
                error_message=record.error_message,
                exception=call.exception,
                cancelled=call.cancelled,
                result=_small(call.result),
                arguments=_small(call.args) or (),
            )
            return self._override_fault(call, record, failure)
        return None

    def _override_fault(self, call: RawCall, record: ToolCallRecord, failure: Failure | None) -> Failure | None:
        hook = self._options.fault_hook
        if hook is None or failure is None:
            return failure
        object.__setattr__(record, "_derived", Derived(failure=failure))
        with contain.contain("fault_hook"):
            fault = hook(record, call.exception_object)
            if isinstance(fault, str) and fault:
                # A word of the host's own, but a hook may have made it from the exception's text.
                fault = self._redaction.text(fault)
                return Failure(fault[:64], failure.category, failure.fingerprint, failure.bad_arguments)
        return failure

    def _keep(self, call: RawCall, record: ToolCallRecord) -> bool:
        rate = self._options.sample_rates.get(call.tool)
        if rate is None or not record.ok or call.had_events:
            return True
        with contain.contain("random"):
            keep = self._options.random() < rate
            object.__setattr__(record, "sample_rate", rate)
            return keep
        return True


def _small(payload: Encoded | None) -> Any:
    """The value of a payload that may hold what tells the fault; None for a large one."""
    return payload.decode() if payload is not None and len(payload.data) <= _SMALL_BYTES else None


def _without(payload: Encoded | None, carry: CarryOver) -> Encoded | None:
    """The payload without other places of the values that were removed from it."""
    return Encoded(carry.apply_json(payload.data)) if payload is not None and carry else payload


def _slim(record: ToolCallRecord) -> ToolCallRecord:
    """The record without payloads, to be kept in memory for linking."""
    if record.args is None and record.result is None:
        return record
    return replace(record, args=None, result=None)


def _forget_payloads(call: RawCall) -> None:
    """What only shaping needed must not live as long as the list of recent calls."""
    call.args = _EMPTY
    call.result = None
    call.exception = None
    call.exception_object = None
    call.identity = None
    call.extra = None


_EMPTY = Encoded(b"{}", 2)
