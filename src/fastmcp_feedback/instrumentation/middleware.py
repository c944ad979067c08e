"""`InstrumentationMiddleware`: the road of a record put together, and its public methods."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from .. import contain
from ..capture.middleware import CaptureMiddleware
from ..delivery.host_loop import HostLoop
from ..delivery.recorder import Recorder
from ..linking.linker import Linker
from ..raw import ExceptionFacts, RawCall
from ..records import CallLink, EventRecord, ToolCallRecord
from ..shaping.redaction import Redaction
from ..shaping.shaper import Shaper, ShapingOptions
from ..shaping.texts import ShortTexts
from .events import LLM_CALL, EventMaker
from .interrupted import InterruptedCalls
from .living import living
from .reports import ReportSupport
from .setup import check_sinks, payload_bytes, shows_options, sort_options


class InstrumentationMiddleware(ReportSupport, CaptureMiddleware):
    """Records every tool call of the FastMCP servers that it is added to. Prefer `instrument(app, ...)`.

    `app.add_middleware(InstrumentationMiddleware(...))` works too, but then only `flush()` and `aclose()` and the
    interpreter's exit deliver what waits: a middleware alone never learns that its server shuts down.

    Args:
        sinks: Where records go; None is `[JsonLinesSink()]`, which writes to stderr.
        **options: See the option table in `docs/options.md`.

    Raises:
        ValueError: an option has a value out of range.
        TypeError: an unknown option, a sink without `write`, or a hook that is not a function.

    >>> from fastmcp import FastMCP
    >>> from fastmcp_feedback.instrumentation import MemorySink, instrument
    >>> app = FastMCP("demo")
    >>> @app.tool
    ... def add(a: int, b: int) -> int:
    ...     return a + b
    >>> sink = MemorySink()
    >>> recorder = instrument(app, [sink], mode="full")
    >>> import asyncio
    >>> async def main():
    ...     await app.call_tool("add", {"a": 1, "b": 2})
    ...     await recorder.flush()
    >>> asyncio.run(main())
    >>> [(call.tool, call.outcome, call.args) for call in sink.calls]
    [('add', 'ok', {'a': 1, 'b': 2})]
    """

    @shows_options
    def __init__(self, sinks: Sequence[Any] | None = None, **options: Any) -> None:
        capture, delivery, redactor = sort_options(options)
        self.sinks = check_sinks(sinks)
        self._host = HostLoop()
        contain.set_scrubber(redactor.redact_text)
        redaction = Redaction(redactor, capture.max_payload_bytes, None)
        self._redaction = redaction
        self.recorder = Recorder(self._shape, self.sinks if capture.mode != "off" else [], delivery, self._host)
        shaping = ShapingOptions(
            redactor=redactor,
            result_classifier=capture.result_classifier,
            fault_hook=capture.fault_hook,
            sample_rates=capture.sample_rates,
            random=capture.random,
            max_error_chars=capture.max_error_chars,
            max_payload_bytes=capture.max_payload_bytes,
            server_version=capture.server_version,
        )
        self._shaper = Shaper(shaping, lambda: self.recorder.inbox.pacer.breathe())  # noqa: PLW0108 - a fork replaces the inbox
        host_sinks = any(not runner.owns_resource for runner in self.recorder.runners)
        on_loop = self._host.bind if host_sinks else None
        super().__init__(capture, self.recorder.submit, on_loop if delivery.spool is None else self._served)
        if delivery.spool is not None:
            self.recorder.follow_calls(self.call_log.running_now, InterruptedCalls(shaping).template)
        self._events = EventMaker(capture, redaction, ShortTexts(redactor), self.call_log)
        self._linker = Linker(self.call_log, self.recorder, self.sinks, capture, self.pending)
        living.add(self)

    @property
    def mode(self) -> str:
        """`off`, `meta` or `full`."""
        return str(self.options.mode)

    # -- the road

    def _served(self, loop: asyncio.AbstractEventLoop) -> None:
        """A call begins on this loop, and there is a spool."""
        self._host.bind(loop)
        self.recorder.recover()

    def _shape(self, item: Any) -> tuple[Any, bool] | None:
        if type(item) is not RawCall:
            return item, True
        shaped = self._shaper.shape(item)
        if not item.internal:
            self.call_log.shaped(item)
        return shaped

    def submit(self, record: ToolCallRecord | EventRecord) -> bool:
        """Queue a record made elsewhere, as it is. False when every sink's queue is full or the recorder is closed."""
        if not isinstance(record, (ToolCallRecord, EventRecord)):
            contain.warn_once("odd record", "submit takes a ToolCallRecord or an EventRecord, got %s", type(record).__name__)
            return False
        return self.recorder.submit(record, payload_bytes(record)) if self.mode != "off" else False

    # -- events

    def record_event(
        self,
        kind: str,
        *,
        key: Any = None,
        attrs: Mapping[str, Any] | None = None,
        user_sub: str | None = None,
        call_id: str | None = None,
    ) -> bool:
        """Record that something happened. From any thread; never raises, never blocks.

        Args:
            kind: A dotted name, at most 128 characters.
            key: What `events_for` finds it by; made text, at most 255 characters.
            attrs: Details; redacted and made JSON-safe here and now.
            user_sub: Whom it concerns. The identity resolver is not asked.
            call_id: The call it belongs to; inside a tool call that is the running call.

        Returns:
            False when nothing was recorded: mode `off`, an unusable kind, key or attrs, or a full queue.
        """
        if self.mode == "off":
            return False
        with contain.contain("record_event"):
            event = self._events.make(kind, key=key, attrs=attrs, user_sub=user_sub, call_id=call_id)
            if event is None:
                return False
            self._events.log.add(event.id, event)
            return self.recorder.submit(event, payload_bytes(event))
        return False

    def record_llm_call(
        self,
        *,
        model: str,
        provider: str | None = None,
        duration_ms: float | None = None,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        ok: bool | None = None,
        error: BaseException | str | None = None,
        key: Any = None,
        attrs: Mapping[str, Any] | None = None,
        prompt: Any = None,
        completion: Any = None,
    ) -> bool:
        """Record a call of a language model that the server made, as an event of kind `llm.call`.

        `ok` defaults to `error is None`. Prompt and completion are kept only with `capture_llm_text=True`.
        """
        if self.mode == "off":
            return False
        if attrs is not None and not isinstance(attrs, Mapping):
            return self.record_event(LLM_CALL, attrs=attrs)  # says what is wrong
        with contain.contain("record_llm_call"):
            given = {
                "model": model, "provider": provider, "duration_ms": duration_ms, "input_tokens": input_tokens,
                "output_tokens": output_tokens, "prompt": prompt, "completion": completion,
            }  # fmt: skip
            return self.record_event(LLM_CALL, key=key, attrs=self._events.llm_attrs(given, error, ok, attrs))
        return False

    async def events_for(self, key: Any, *, kinds: Iterable[str] | None = None, limit: int = 1000) -> list[dict[str, Any]]:
        """The newest `limit` events with that key, oldest first, as dicts. Empty in mode `off`."""
        if self.mode == "off":
            return []
        with contain.contain("events_for"):
            stored_key = self._events.stored_key(key)
            remembered = [event.to_dict() for event in self._events.events_for(stored_key, kinds, limit)]
            return await self._linker.with_stored_events(remembered, stored_key, kinds, limit)
        return []

    # -- calls

    def current_call_id(self) -> str | None:
        """The id of the call that runs in this task or thread, or None."""
        call = self._events.running_call()
        return call.id if call is not None else None

    def running_calls(self) -> list[dict[str, Any]]:
        """The calls that run now, oldest first: id, tool, started_at, session_id, user_sub, duration_ms so far."""
        return self._linker.running_calls()

    async def capture_recent_calls(
        self,
        ctx: Any = None,
        n: int = 20,
        *,
        user_sub: str | None = None,
        window: timedelta | float = timedelta(minutes=15),
        calls: Sequence[str] = (),
    ) -> list[CallLink]:
        """The calls that led to here: quoted ones, then this conversation's, then this user's within the window.

        Args:
            ctx: A FastMCP `Context`; by default that of the running call.
            n: At most so many.
            user_sub: The verified user; by default that of the running call.
            window: How far back (a timedelta or seconds).
            calls: Call ids, or the short references that `call_reference=True` hands out.

        Returns:
            Links in chronological order, positions from 0. The reporting call itself is never among them.
        """
        if self.mode == "off":
            return []
        with contain.contain("capture_recent_calls"):
            return await self._linker.recent(ctx, n, user_sub=user_sub, window=window, calls=calls)
        return []

    async def link_feedback(self, ref: str, links: Sequence[CallLink]) -> bool:
        """Attach these calls to a report, replacing earlier links."""
        if self.mode == "off":
            return False
        with contain.contain("link_feedback"):
            return await self._linker.link(str(ref), list(links))
        return False

    async def feedback_context(self, ref: str) -> list[dict[str, Any]]:
        """The calls attached to a report, in order, each with what became of it (`running` until it ends)."""
        if self.mode == "off":
            return []
        with contain.contain("feedback_context"):
            return await self._linker.context(str(ref))
        return []

    # -- delivery

    async def flush(self, timeout: float = 30) -> bool:  # noqa: ASYNC109 - the contract's name
        """Wait until everything recorded before is written, spooled, quarantined or counted as lost."""
        began_s = time.monotonic()
        await self._hooks_done(timeout)
        return await self.recorder.flush(max(0.0, timeout - (time.monotonic() - began_s)))

    async def _hooks_done(self, limit_s: float) -> None:
        """Wait for the hooks of calls that have ended."""
        deadline_s = time.monotonic() + limit_s
        while self.pending and time.monotonic() < deadline_s:  # noqa: ASYNC110 - hooks are many, short and independent
            await asyncio.sleep(0.005)

    def flush_sync(self, timeout_s: float | None = None, *, final: bool = False, own_only: bool = False) -> bool:
        """The same for plain code: signal handlers, `atexit`. Calls whose enricher has not run go without it."""
        self.hand_over_pending()
        limit_s = self.recorder.options.shutdown_timeout if timeout_s is None else timeout_s
        return self.recorder.flush_sync(limit_s, final=final, own_only=own_only)

    def interrupt_running(self) -> None:
        """Record the calls that run now as `error` / `Interrupted`: the process ends before they can."""
        for call in self.call_log.running_now():
            call.ended = True
            call.exception = ExceptionFacts("Interrupted", "the server was ended while the tool ran")
            call.duration_ns = time.time_ns() - call.started_ns
            self.recorder.submit(call, len(call.args.data))

    def forget_running(self) -> None:
        """Leave the calls that run, or wait for their hooks, to the process that this one was forked from."""
        self.call_log.running.clear()
        self.pending.clear()

    async def aclose(self) -> None:
        """Flush, close the sinks; later records are refused and counted. Idempotent."""
        await self._hooks_done(self.recorder.options.shutdown_timeout)
        self.hand_over_pending()
        await self.recorder.aclose()

    def stats(self) -> dict[str, Any]:
        """The books: for each sink accepted = written + waiting + spooled + quarantined + lost."""
        return {**self.recorder.stats(), "mode": self.mode, "running_calls": len(self.call_log.running)}
