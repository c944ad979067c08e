"""Events: what a server says about itself, recorded from any thread, joined to the call that runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import contain
from ..capture.running import CallLog, KeyedLog
from ..ids import utc_now
from ..jsonsafe import Encoded, encode, to_safe
from ..raw import RawCall
from ..records import Derived, EventRecord
from ..shaping.redact.carry import CarryOver
from ..shaping.redaction import Redaction
from ..shaping.texts import ShortTexts, cut_text
from ..shaping.trim import fit_attrs

if TYPE_CHECKING:
    from ..capture.options import CaptureOptions

MAX_KIND_CHARS = 128
MAX_KEY_CHARS = 255
LLM_CALL = "llm.call"
_LLM_TEXT = ("prompt", "completion")


class EventMaker:
    """Builds event records on the caller's thread: encoded, redacted, trimmed, joined to the running call."""

    def __init__(self, options: CaptureOptions, redaction: Redaction, texts: ShortTexts, calls: CallLog) -> None:
        self._options = options
        self._redaction = redaction
        self._texts = texts
        self._calls = calls
        self.log = KeyedLog(options.recent_events)

    def running_call(self) -> RawCall | None:
        """The call that runs in this task or thread; None outside, inside an excluded tool, and after its end."""
        call = self._calls.current.get()
        if call is None or call.ended or call.excluded:
            return None
        return call

    def make(self, kind: Any, *, key: Any, attrs: Any, user_sub: str | None, call_id: str | None) -> EventRecord | None:
        """The record, or None (with a warning) when kind, key or attrs are not usable."""
        problem, key = _check(kind, key, attrs)
        if problem:
            contain.warn_once(f"record_event {problem[:40]}", "record_event ignored: %s", problem)
            return None
        call = self.running_call()
        joined = call if call is not None and call_id in (None, call.id) else None
        if joined is not None:
            joined.had_events = True
        inherit = joined if joined is not None and self._options.events_inherit_identity else None
        short = self._short
        context = joined.context if joined is not None else None
        return EventRecord(
            kind=short(kind) or kind,
            occurred_at=utc_now(),
            key=self._key(key, call),
            call_id=joined.id if joined is not None else short(call_id),
            session_id=short(context.session_id) if context is not None else None,
            user_sub=short(user_sub if user_sub is not None else (inherit.user_sub if inherit else None)),
            caller_kind=short(inherit.caller_kind) if inherit else None,
            client_id=short(inherit.client_id if inherit.client_id is not None else inherit.context.client_id) if inherit else None,
            server_version=short(self._options.server_version),
            attrs=self._attrs(attrs, call),
            _derived=_derived(joined) if joined is not None else None,
        )

    def _short(self, value: Any) -> str | None:
        return None if value is None else self._texts.short(value if isinstance(value, str) else str(value))

    def _key(self, key: str | None, call: RawCall | None) -> str | None:
        shown = self._texts.short(key)
        carry = self._carry(call) if shown is not None else _EMPTY
        return carry.apply_text(shown) if carry and shown is not None else shown

    def _attrs(self, attrs: Mapping[str, Any] | None, call: RawCall | None) -> Any:
        if not attrs:
            return {}
        encoded = encode(dict(attrs))
        value = self._redaction.mapping_bytes(encoded.data, self._carry(call))
        size = Encoded(value).size
        limit = self._options.max_payload_bytes
        if limit is not None and (size or 0) > limit:
            return fit_attrs(Encoded(value).decode(), size, limit)
        return Encoded(value)

    def _carry(self, call: RawCall | None) -> CarryOver:
        """What redaction removes from the running call's arguments, worked out once a call."""
        if call is None or len(call.args.data) <= 2:
            return _EMPTY
        if call.carry is None:
            found: list[str] = []
            self._redaction.payload(call.args, found, full=False, needed=True)
            call.carry = CarryOver.from_values(found)
        return call.carry if isinstance(call.carry, CarryOver) else _EMPTY

    def stored_key(self, key: Any) -> str:
        """The key as events hold it."""
        return self._texts.short(str(key)) or ""

    def events_for(self, wanted: str, kinds: Any, limit: int) -> list[EventRecord]:
        """Remembered events with that key, oldest first, the newest `limit`."""
        allowed = None if kinds is None else ({kinds} if isinstance(kinds, str) else set(kinds))
        found = [
            event
            for event in self.log.snapshot()
            if isinstance(event, EventRecord) and event.key == wanted and (allowed is None or event.kind in allowed)
        ]
        return found[-limit:] if limit > 0 else []

    def llm_attrs(self, given: dict[str, Any], error: Any, ok: bool | None, attrs: Any) -> dict[str, Any]:
        """The attrs of an `llm.call` event: model and ok first, then what is present; text only when allowed."""
        options = self._options
        merged: dict[str, Any] = {"model": given["model"], "ok": error is None if ok is None else bool(ok)}
        for name in ("provider", "duration_ms", "input_tokens", "output_tokens"):
            if given[name] is not None:
                merged[name] = given[name]
        if error is not None:
            merged["error"] = cut_text(self._redaction.text(str(to_safe(error))), options.max_error_chars)
            if isinstance(error, BaseException):
                merged["error_type"] = type(error).__name__
        extra = dict(attrs or {}) if options.capture_llm_text else _without_llm_text(encode(dict(attrs or {})).decode())
        for name in _LLM_TEXT:
            text = given[name] if given[name] is not None else extra.get(name)
            extra.pop(name, None)
            if text is not None and options.capture_llm_text:
                safe = text if isinstance(text, str) else encode(text).data.decode()
                merged[name] = cut_text(self._redaction.text(safe), options.max_llm_text_chars or 0)
        return merged | {name: value for name, value in extra.items() if name not in merged}


_EMPTY = CarryOver.from_values([])


def _without_llm_text(value: Any) -> Any:
    """The JSON value without prompts and completions that hide in it, at any depth."""
    if isinstance(value, dict):
        return {name: _without_llm_text(item) for name, item in value.items() if name not in _LLM_TEXT}
    if isinstance(value, list):
        return [_without_llm_text(item) for item in value]
    return value


def _check(kind: Any, key: Any, attrs: Any) -> tuple[str, str | None]:
    """What is wrong with an event (empty when nothing), and its key as text."""
    if not isinstance(kind, str) or not kind.strip():
        return f"kind must be non-empty text, got {type(kind).__name__}", None
    if len(kind) > MAX_KIND_CHARS:
        return f"kind has {len(kind)} characters, at most {MAX_KIND_CHARS} are allowed", None
    if attrs is not None and not isinstance(attrs, Mapping):
        return f"attrs must be a dict, got {type(attrs).__name__}", None
    if key is None:
        return "", None
    text = str(key)
    if len(text) > MAX_KEY_CHARS:
        return f"key has {len(text)} characters, at most {MAX_KEY_CHARS} are allowed", None
    return "", text


def _derived(call: RawCall) -> Derived:
    context = call.context
    return Derived(
        conversation_key=context.conversation_key,
        conversation_basis=context.conversation_basis,
        trace_id=context.trace_id,
        span_id=context.span_id,
        internal=call.internal,
    )
