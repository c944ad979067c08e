"""The middleware: what happens on the caller's time. Nothing here interprets, waits or raises.

For each call: choose an id, encode the arguments, ask who calls, run the tool, encode the result, hand over.
"""

from __future__ import annotations

import asyncio
from asyncio import get_running_loop
from collections.abc import Callable, Iterable
from contextvars import copy_context
from dataclasses import replace
from time import perf_counter_ns, time_ns
from typing import Any

import orjson
from fastmcp.server.middleware import Middleware

from .. import contain
from ..jsonsafe import Encoded, encode, encode_flat, encode_json_value
from ..raw import RawCall, mark_error
from . import adapter
from .exceptions import describe_exception
from .hooks import run_hook
from .options import CaptureOptions
from .running import CallLog

_LATE_LOOK_BYTES = 16384  # results above are checked for NaN off the caller's path
_COLUMNS = ("user_sub", "caller_kind", "client_id")
_AFTER_RESPONSE_S = 0.005
REFERENCE_CHARS = 13  # of the id, as handed out to clients: 48 random bits


class CaptureMiddleware(Middleware):
    """Sees every `tools/call` of the servers that it is added to and hands it to `submit(call, size_bytes)`."""

    def __init__(
        self,
        options: CaptureOptions,
        submit: Callable[[RawCall, int], object],
        on_loop: Callable[[asyncio.AbstractEventLoop], None] | None = None,
    ) -> None:
        self.options = options
        self.call_log = CallLog(options.recent_calls)
        self.internal_tools: set[str] = set()
        self._submit = submit
        self._on_loop = on_loop  # told which loop serves calls; None when nobody needs to know
        self._running = self.call_log.running
        self._current = self.call_log.current
        self._off = options.mode == "off"
        self._mode = str(options.mode)
        self._meta_only = frozenset(options.meta_only_tools)
        self._excluded = frozenset(options.exclude_tools)
        self._special = self._meta_only | self._excluded
        self._late_keys = frozenset(options.late_identity_keys)
        self._resolver = options.identity_resolver
        self._references = options.call_reference
        self._hooks_after = options.enricher is not None or bool(self._late_keys and options.identity_resolver)
        classifier = options.result_classifier
        self._inline_classifier = classifier if getattr(classifier, "inline", False) else None
        # Calls whose after-hooks have not run yet: flush waits for them, exit submits them as they are.
        self.pending: dict[RawCall, asyncio.Task[None] | asyncio.TimerHandle] = {}

    def mark_internal(self, tools: Iterable[str], *, meta_only: bool = False) -> None:
        """These tools are the recorder's own: recorded with the internal flag, never linked, not counted.

        With `meta_only` their arguments and results are not kept: what a report says stands in the report alone.
        """
        names = frozenset(tools)
        self.internal_tools.update(names)
        self._meta_only |= names if meta_only else frozenset()
        self._special = self._meta_only | self._excluded | self.internal_tools

    # The next methods are on every caller's path, between code that leaves nothing of ours in the processor's caches:
    # each function call and each object costs several times what a tight loop would show. Hence few of either.

    async def __call__(self, context: Any, call_next: Any) -> Any:
        """Record one `tools/call`; everything else passes through."""
        if context.method != "tools/call" or self._off:
            return await call_next(context)
        call = self._begin(context)
        if call is None:
            return await call_next(context)
        current = self._current
        token = current.set(call)
        began_ns = perf_counter_ns()
        try:
            if self._resolver is not None and not call.excluded:
                await self._identify(call, context)
                began_ns = perf_counter_ns()
            result = await call_next(context)
        except BaseException as exc:
            call.duration_ns = perf_counter_ns() - began_ns
            self._raised(call, exc, context)
            current.reset(token)
            raise
        call.duration_ns = perf_counter_ns() - began_ns
        self._returned(call, result, context)
        current.reset(token)
        return self._referenced(result, call) if self._references else result

    def _begin(self, context: Any) -> RawCall | None:
        """The call about to run, or None when this dispatch is not one of its own."""
        try:
            message = context.message
            tool = message.name
            running = self._current.get()
            if running is not None and adapter.dispatched_by_mount(_CALL_CODE):
                return None
            arguments = message.arguments
            encoded = encode_flat(arguments) if arguments else _NOTHING
            call = RawCall(self, tool, time_ns(), self._mode, encoded, adapter.call_context(context))
            if running is not None and not running.excluded and not running.ended:
                call.parent = running
            if tool in self._special:
                self._treat_specially(call)
            self._running.add(call)
            if self._on_loop is not None:
                self._on_loop(get_running_loop())
        except AttributeError:
            # FastMCP 4 passes malformed requests as plain dicts; they never reach a tool.
            return None
        except Exception as exc:  # noqa: BLE001 - a failure of ours must not cost the call
            contain.report("capture", exc)
            return None
        return call

    def _treat_specially(self, call: RawCall) -> None:
        call.excluded = call.tool in self._excluded
        call.internal = call.tool in self.internal_tools
        if call.tool in self._meta_only:
            call.mode = "meta"

    def _returned(self, call: RawCall, result: Any, context: Any) -> None:
        try:
            self._running.discard(call)
            if call.ended or call.excluded:  # ended: recorded as interrupted meanwhile
                return
            call.ended = True
            payload, call.is_error, json_only = adapter.result_payload(result)
            call.result = encoded = self._encode_result(call, payload) if json_only else encode(payload)
            classifier = self._inline_classifier
            if classifier is not None:
                call.soft_error = classifier(call.tool, mark_error(payload) if call.is_error else payload)
                call.classified = True
            if self._hooks_after and not call.internal:
                self._schedule_hooks(call, context)
            else:
                self._submit(call, len(call.args.data) + len(encoded.data))
        except Exception as exc:  # noqa: BLE001 - a failure of ours must not cost the call
            contain.report("capture", exc)

    async def _identify(self, call: RawCall, context: Any) -> None:
        resolver = self._resolver
        assert resolver is not None
        self._set_identity(call, await run_hook("identity_resolver", resolver, (context,), self.options.hook_timeout))

    def _set_identity(self, call: RawCall, answer: dict[str, Any]) -> None:
        """Columns and the rest; values set before win (the late second answer only fills gaps)."""
        with contain.contain("identity_resolver"):
            unknown = call.user_sub is None
            rest = call.identity if call.identity is not None else {}
            for key, value in answer.items():
                if key in _COLUMNS:
                    if value is not None and getattr(call, key) is None:
                        setattr(call, key, value if isinstance(value, str) else str(value))
                else:
                    rest.setdefault(key, value)
            call.identity = rest
            if unknown and call.user_sub is not None:
                group, basis = adapter.conversation_for(call.context, call.user_sub)
                call.context = replace(call.context, conversation_key=group, conversation_basis=basis)

    # -- the other ways of a call

    def _encode_result(self, call: RawCall, payload: Any) -> Encoded:
        """The result's bytes; whether a null in them hides a NaN is looked at here for small ones, later for others."""
        try:
            data = orjson.dumps(payload)
        except Exception:  # noqa: BLE001 - the slow encoder takes everything
            return encode(payload)
        if len(data) <= _LATE_LOOK_BYTES:
            return encode_json_value(payload) if b"null" in data or b"\\u0000" in data else Encoded(data)
        limit = self.options.max_payload_bytes
        if call.mode == "full" and (limit is None or len(data) <= limit):
            call.late_result = payload
        return Encoded(data)

    def _raised(self, call: RawCall, exc: BaseException, context: Any) -> None:
        with contain.contain("capture"):
            self._running.discard(call)
            if call.ended or call.excluded:
                return
            call.ended = True
            call.exception = describe_exception(exc, limit_chars=self.options.max_error_chars)
            call.cancelled = isinstance(exc, asyncio.CancelledError)
            if self.options.fault_hook is not None:
                call.exception_object = exc
            if self._hooks_after and not call.internal:
                self._schedule_hooks(call, context)
            else:
                self._hand_over(call)

    def _hand_over(self, call: RawCall) -> None:
        result = call.result
        self._submit(call, len(call.args.data) + (len(result.data) if result is not None else 0))

    # -- hooks after the response

    def _schedule_hooks(self, call: RawCall, context: Any) -> None:
        loop = get_running_loop()
        variables = copy_context()

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
        known = {key for key in _COLUMNS if getattr(call, key) is not None} | (call.identity or {}).keys()
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


_NOTHING = Encoded(b"{}", 2)
_CALL_CODE = CaptureMiddleware.__call__.__code__
