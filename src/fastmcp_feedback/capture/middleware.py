"""The middleware: what happens on the caller's time. Nothing here interprets, waits or raises.

For each call: choose an id, encode the arguments, ask who calls, run the tool, encode the result, hand over.
"""

from __future__ import annotations

import asyncio
import contextvars
import time
from typing import Any, Protocol

import orjson
from fastmcp.server.middleware import Middleware

from .. import contain
from ..ids import new_id
from ..jsonsafe import Encoded, encode, encode_json_value
from ..raw import RawCall
from . import adapter
from .exceptions import describe_exception
from .hooks import run_hook
from .options import CaptureOptions
from .running import CallLog, current

_CLOSE_LOOK_BYTES = 4096  # arguments up to here are checked for types that the fast encoder renders its own way
_LATE_LOOK_BYTES = 16384  # results above are checked for NaN off the caller's path
_COLUMNS = ("user_sub", "caller_kind", "client_id")
_AFTER_RESPONSE_S = 0.005
_MAX_NAME_CHARS = 4096
REFERENCE_CHARS = 13  # of the id, as handed out to clients: 48 random bits


class Recording(Protocol):
    """Where captured calls go."""

    def take(self, call: RawCall, size_bytes: int) -> None:
        """Queue a finished call; never waits or raises."""
        ...

    def bind(self, loop: asyncio.AbstractEventLoop) -> None:
        """Note the loop that serves calls."""
        ...


class CaptureMiddleware(Middleware):
    """Sees every `tools/call` of the servers that it is added to and hands it to `recording`."""

    def __init__(self, options: CaptureOptions, recording: Recording) -> None:
        self.options = options
        self.call_log = CallLog(options.recent_calls)
        self.internal_tools: set[str] = set()
        self._recording = recording
        self._off = options.mode == "off"
        self._full = options.mode == "full"
        self._meta_only = frozenset(options.meta_only_tools)
        self._excluded = frozenset(options.exclude_tools)
        self._late_keys = frozenset(options.late_identity_keys)
        self._hooks_after = options.enricher is not None or bool(self._late_keys and options.identity_resolver)
        classifier = options.result_classifier
        self._inline_classifier = classifier if getattr(classifier, "inline", False) else None
        # Calls whose after-hooks have not run yet: flush waits for them, exit submits them as they are.
        self.pending: dict[RawCall, asyncio.Task[None] | asyncio.TimerHandle] = {}

    async def __call__(self, context: Any, call_next: Any) -> Any:
        """Record one `tools/call`; everything else passes through."""
        if self._off or context.method != "tools/call":
            return await call_next(context)
        call = self._begin(context)
        if call is None:
            return await call_next(context)
        token = current.set(call)
        if call.mode == "excluded":
            try:
                return await call_next(context)
            finally:
                current.reset(token)
        began_ns = time.perf_counter_ns()
        try:
            if self.options.identity_resolver is not None:
                await self._identify(call, context)
                began_ns = time.perf_counter_ns()
            result = await call_next(context)
        except BaseException as exc:
            call.duration_ns = time.perf_counter_ns() - began_ns
            self._raised(call, exc, context)
            current.reset(token)
            raise
        call.duration_ns = time.perf_counter_ns() - began_ns
        self._returned(call, result, context)
        current.reset(token)
        return self._referenced(result, call) if self.options.call_reference else result

    # -- before the tool

    def _begin(self, context: Any) -> RawCall | None:
        """The call about to run, or None when this dispatch is not one of its own."""
        try:
            message = context.message
            tool = message.name
            running = current.get()
            if running is not None and running.owner is self and adapter.dispatched_by_mount(_CALL_CODE):
                return None
            if tool in self._excluded:
                return RawCall("", tool, 0, "excluded", _NOTHING, _NO_CONTEXT, self)
            mode = "full" if self._full and tool not in self._meta_only else "meta"
            call = RawCall(
                new_id(), tool[:_MAX_NAME_CHARS], time.time_ns(), mode, _encode_args(message.arguments), adapter.call_context(context), self
            )
            if running is not None and running.owner is self and running.id:
                call.parent_call_id = running.id
            if tool in self.internal_tools:
                call.internal = True
            self.call_log.started(call)
            self._recording.bind(asyncio.get_running_loop())
        except AttributeError:
            # FastMCP 4 passes malformed requests as plain dicts; they never reach a tool.
            return None
        except Exception as exc:  # noqa: BLE001 - a failure of ours must not cost the call
            contain.report("capture", exc)
            return None
        return call

    async def _identify(self, call: RawCall, context: Any) -> None:
        resolver = self.options.identity_resolver
        assert resolver is not None
        self._set_identity(call, await run_hook("identity_resolver", resolver, (context,), self.options.hook_timeout))

    def _set_identity(self, call: RawCall, answer: dict[str, Any]) -> None:
        """Columns and the rest; values set before win (the late second answer only fills gaps)."""
        with contain.contain("identity_resolver"):
            unknown = call.user_sub is None
            for key, value in answer.items():
                if key in _COLUMNS:
                    if value is not None and getattr(call, key) is None:
                        setattr(call, key, value if isinstance(value, str) else str(value))
                else:
                    call.identity.setdefault(key, value)
            if unknown and call.user_sub is not None:
                context = call.context
                context.conversation_key, context.conversation_basis = adapter.conversation_for(context, call.user_sub)

    # -- after the tool

    def _returned(self, call: RawCall, result: Any, context: Any) -> None:
        with contain.contain("capture"):
            payload, call.is_error, json_only = adapter.result_payload(result)
            call.result = self._encode_result(call, payload, json_only=json_only)
            classifier = self._inline_classifier
            if classifier is not None:
                call.classified = True
                try:
                    call.soft_error = classifier(call.tool, mark_error(payload) if call.is_error else payload)
                except Exception as exc:  # noqa: BLE001 - a classifier that fails says nothing
                    contain.report("result_classifier", exc, "the call is recorded as ok")
        self._finish(call, context)

    def _encode_result(self, call: RawCall, payload: Any, *, json_only: bool) -> Encoded:
        if not json_only:
            return encode(payload)
        try:
            encoded = Encoded(orjson.dumps(payload))
        except Exception:  # noqa: BLE001 - the slow encoder takes everything
            return encode(payload)
        if len(encoded.data) <= _LATE_LOOK_BYTES:
            return encode_json_value(payload) if b"null" in encoded.data or b"\\u0000" in encoded.data else encoded
        limit = self.options.max_payload_bytes
        if limit is None or len(encoded.data) <= limit:
            call.late_result = payload
        return encoded

    def _raised(self, call: RawCall, exc: BaseException, context: Any) -> None:
        with contain.contain("capture"):
            call.exception = describe_exception(exc, limit_chars=self.options.max_error_chars)
            call.cancelled = isinstance(exc, asyncio.CancelledError)
            if self.options.fault_hook is not None:
                call.exception_object = exc
        self._finish(call, context)

    def _finish(self, call: RawCall, context: Any) -> None:
        with contain.contain("capture"):
            if call.ended:  # recorded as interrupted meanwhile
                return
            self.call_log.ended(call)
            if self._hooks_after and not call.internal:
                self._schedule_hooks(call, context)
            else:
                self._hand_over(call)

    def _hand_over(self, call: RawCall) -> None:
        size_bytes = len(call.args.data) + (len(call.result.data) if call.result is not None else 0)
        self._recording.take(call, size_bytes)

    # -- hooks after the response

    def _schedule_hooks(self, call: RawCall, context: Any) -> None:
        loop = asyncio.get_running_loop()
        variables = contextvars.copy_context()

        def start() -> None:
            if call not in self.pending:  # handed over without its hooks meanwhile
                return
            self.pending[call] = loop.create_task(self._run_hooks(call, context), context=variables)

        # A moment later, so that the response goes out before a hook of the host takes the loop.
        self.pending[call] = loop.call_later(_AFTER_RESPONSE_S, start)

    async def _run_hooks(self, call: RawCall, context: Any) -> None:
        try:
            options = self.options
            resolver = options.identity_resolver
            if resolver is not None and self._wants_late_identity(call):
                self._set_identity(call, await run_hook("identity_resolver", resolver, (context,), options.hook_timeout))
            if options.enricher is not None:
                args = (call.tool, call.args.decode(), call.result.decode() if call.result is not None else None, context)
                call.extra = await run_hook("enricher", options.enricher, args, options.hook_timeout)
        finally:
            if self.pending.pop(call, None) is not None:
                self._hand_over(call)

    def _wants_late_identity(self, call: RawCall) -> bool:
        if not self._late_keys:
            return False
        known = {key for key in _COLUMNS if getattr(call, key) is not None} | call.identity.keys()
        return not known or not self._late_keys <= known

    def hand_over_pending(self) -> None:
        """Submit the calls whose after-hooks have not run: the loop will not turn again."""
        for call in list(self.pending):
            if self.pending.pop(call, None) is not None:
                self._hand_over(call)

    def _referenced(self, result: Any, call: RawCall) -> Any:
        with contain.contain("call_reference"):
            return adapter.with_meta(result, {"fastmcp_feedback": {"call": call.id[:REFERENCE_CHARS]}})
        return result


def mark_error(payload: Any) -> dict[str, Any]:
    """What a classifier sees of a result that the tool marked as an error without raising."""
    return {**payload, "isError": True} if isinstance(payload, dict) else {"isError": True, "content": payload}


def _encode_args(arguments: Any) -> Encoded:
    return encode(arguments, _CLOSE_LOOK_BYTES) if arguments else Encoded(b"{}", 2)


_NOTHING = Encoded(b"{}", 2)
_NO_CONTEXT = adapter.CallContext()
_CALL_CODE = CaptureMiddleware.__call__.__code__
