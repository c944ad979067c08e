"""The options of the middleware, one by one, on a real server."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fastmcp import Client, FastMCP

from fastmcp_feedback.instrumentation import (
    DEFAULT_RESULT_CLASSIFIER,
    InstrumentationMiddleware,
    MemorySink,
    Redactor,
    ToolCallRecord,
    instrument,
)
from support.versions import IS_V2

Contained = list[tuple[str, BaseException]]


def studio() -> FastMCP[Any]:
    """A small server."""
    app: FastMCP[Any] = FastMCP("studio")

    @app.tool
    async def render(scene: str, api_key: str = "") -> dict[str, str]:
        return {"status": "failed", "error": "out of memory"} if scene == "big" else {"status": "done"}

    @app.tool
    async def boom(text: str = "bad") -> str:
        raise ValueError(text)

    @app.tool
    async def ping() -> str:
        return "pong"

    return app


@asynccontextmanager
async def recording(
    app: FastMCP[Any] | None = None, **options: Any
) -> AsyncIterator[tuple[Client[Any], MemorySink, InstrumentationMiddleware]]:
    """A client of an instrumented server, its sink and its middleware; closed afterwards."""
    server = app or studio()
    sink = MemorySink()
    mw = instrument(server, [sink], **options)
    try:
        async with Client(server) as client:
            yield client, sink, mw
    finally:
        await mw.aclose()


async def call(client: Client[Any], tool: str, **args: Any) -> Any:
    """A call whose failure does not matter to the test."""
    return await client.call_tool(tool, args, raise_on_error=False)


async def test_the_json_line_of_the_specification_is_reproduced() -> None:
    """Field by field and in that order: the failed render of the records page."""

    async def who(_context: Any) -> dict[str, str]:
        return {"user_sub": "dev", "team": "render"}

    app: FastMCP[Any] = FastMCP("studio")

    @app.tool
    async def render(scene: str) -> dict[str, str]:
        return {"status": "failed", "error": "out of memory"}

    async with recording(app, mode="full", identity_resolver=who) as (client, sink, mw):
        await call(client, "render", scene="big")
        await mw.flush()
        (record,) = sink.calls
        line = {"record": record.record_type, **record.to_dict()}
    assert list(line) == [
        "record", "tool", "started_at", "duration_ms", "ok", "mode", "outcome", "id", "error_type", "error_message", "session_id",
        "request_id", "client_id", "user_sub", "caller_kind", "identity", "server_version", "args_size", "result_size", "args", "result",
        "extra", "sample_rate",
    ]  # fmt: skip
    assert line | dict.fromkeys(("started_at", "duration_ms", "id", "session_id", "request_id")) == {
        "record": "tool_call", "tool": "render", "started_at": None, "duration_ms": None, "ok": False, "mode": "full",
        "outcome": "soft_error", "id": None, "error_type": "SoftError", "error_message": "status=failed: out of memory",
        "session_id": None, "request_id": None, "client_id": None, "user_sub": "dev", "caller_kind": None, "identity": {"team": "render"},
        "server_version": None, "args_size": 16, "result_size": 46, "args": {"scene": "big"},
        "result": {"status": "failed", "error": "out of memory"}, "extra": {}, "sample_rate": None,
    }  # fmt: skip


async def test_meta_mode_keeps_sizes_and_no_payloads() -> None:
    """The default mode stores neither arguments nor results."""
    async with recording() as (client, sink, mw):
        assert mw.mode == "meta"
        await call(client, "render", scene="big")
        await mw.flush()
        (record,) = sink.calls
        assert (record.args, record.result, record.args_size, record.result_size) == (None, None, 16, 46)


async def test_meta_only_tools_stay_meta_in_full_mode() -> None:
    """Their payloads are not kept; those of others are."""
    async with recording(mode="full", meta_only_tools=("render",)) as (client, sink, mw):
        await call(client, "render", scene="a")
        await call(client, "ping")
        await mw.flush()
        assert [(record.tool, record.mode, record.args) for record in sink.calls] == [("render", "meta", None), ("ping", "full", {})]


async def test_excluded_tools_leave_nothing_and_their_events_have_no_call() -> None:
    """Neither a record nor a link; an event recorded inside is an event outside any call."""
    app = studio()

    @app.tool
    async def health() -> str:
        assert mw.current_call_id() is None
        assert mw.record_event("checked")
        return "ok"

    async with recording(app, exclude_tools=("health",)) as (client, sink, recorder):
        mw = recorder
        await call(client, "health")
        await mw.flush()
        assert sink.calls == []
        assert [(event.kind, event.call_id) for event in sink.events] == [("checked", None)]
        assert await mw.capture_recent_calls() == []


async def test_mode_off_records_nothing_and_says_so() -> None:
    """No record, no event, no thread of ours."""
    threads = {thread.name for thread in threading.enumerate()}
    async with recording(mode="off") as (client, sink, mw):
        await call(client, "ping")
        assert not mw.record_event("x")
        assert not mw.record_llm_call(model="m")
        assert await mw.events_for("k") == []
        assert await mw.flush()
        assert sink.records == []
        assert not [t.name for t in threading.enumerate() if t.name.startswith("fastmcp-feedback") and t.name not in threads]


async def test_the_mode_comes_from_the_environment_and_a_wrong_one_is_warned_about(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The variable counts when no argument is given; nonsense becomes `meta` with a warning."""
    monkeypatch.setenv("FEEDBACK_INSTRUMENTATION_MODE", "full")
    assert InstrumentationMiddleware([]).mode == "full"
    monkeypatch.setenv("FEEDBACK_INSTRUMENTATION_MODE", "verbose")
    with caplog.at_level(logging.WARNING):
        assert InstrumentationMiddleware([]).mode == "meta"
    assert "FEEDBACK_INSTRUMENTATION_MODE" in caplog.text


async def test_identity_fills_columns_and_the_rest_is_identity() -> None:
    """A sync resolver works as well; secrets in identity are redacted."""

    def who(_context: Any) -> dict[str, Any]:
        return {"user_sub": 7, "caller_kind": "agent", "client_id": "c1", "team": "render", "token": "tok-1234567890"}

    async with recording(identity_resolver=who) as (client, sink, mw):
        await call(client, "ping")
        await mw.flush()
        (record,) = sink.calls
        assert (record.user_sub, record.caller_kind, record.client_id) == ("7", "agent", "c1")
        assert record.identity == {"team": "render", "token": "[REDACTED]"}


async def test_a_late_answer_fills_gaps_and_the_first_answer_wins() -> None:
    """The resolver is asked again after the call when a late key is missing; values known before stay."""
    answers = iter([{"user_sub": "first"}, {"user_sub": "second", "plan": "pro"}])

    async with recording(identity_resolver=lambda _context: next(answers), late_identity_keys=("plan",)) as (client, sink, mw):
        await call(client, "ping")
        await mw.flush()
        (record,) = sink.calls
        assert (record.user_sub, record.identity) == ("first", {"plan": "pro"})


async def test_the_enricher_sees_decoded_copies_and_fills_extra() -> None:
    """It runs after the response in the call's context; `server_version` becomes the column."""
    seen = []

    async def enrich(tool: str, args: Any, result: Any, context: Any) -> dict[str, Any]:
        seen.append((tool, args, result, mw.current_call_id()))
        return {"job": 7, "server_version": "1.2", "password": "hunter22"}

    async with recording(enricher=enrich, server_version="1.1") as (client, sink, recorder):
        mw = recorder
        await call(client, "render", scene="a")
        await mw.flush()
        (record,) = sink.calls
        assert (record.extra, record.server_version) == ({"job": 7, "password": "[REDACTED]"}, "1.2")
        assert seen == [("render", {"scene": "a"}, {"status": "done"}, None)]  # the call has ended: it runs no more


@pytest.mark.parametrize("hook", ["identity_resolver", "enricher"])
@pytest.mark.parametrize("trouble", ["raises", "hangs", "rubbish"])
async def test_a_hook_in_trouble_costs_nothing_but_its_answer(hook: str, trouble: str, contained: Contained) -> None:
    """The client gets its answer and the record is there, whatever a hook does."""

    async def bad(*_args: Any) -> Any:
        if trouble == "raises":
            raise RuntimeError("hook")
        if trouble == "hangs":
            await asyncio.Event().wait()
        return ["rubbish"]

    async with recording(**{hook: bad, "hook_timeout": 0.02}) as (client, sink, mw):
        answer = await call(client, "ping")
        assert answer.content[0].text == "pong"
        await mw.flush()
        (record,) = sink.calls
        assert (record.outcome, record.extra, record.identity) == ("ok", {}, {})
    assert [where for where, _ in contained] == ([hook] if trouble == "raises" else [])


async def test_a_classifier_that_raises_or_returns_rubbish_means_ok(contained: Contained) -> None:
    """It is logged, and the call counts as ok."""

    def broken(tool: str, result: Any) -> Any:
        if tool == "ping":
            raise RuntimeError("classifier")
        return 42

    async with recording(result_classifier=broken) as (client, sink, mw):
        await call(client, "ping")
        await call(client, "render", scene="big")
        await mw.flush()
        assert [record.outcome for record in sink.calls] == ["ok", "ok"]
    assert [where for where, _ in contained] == ["result_classifier"]


async def test_a_classifier_of_the_host_decides_and_none_switches_it_off() -> None:
    """`result_classifier=None` leaves only what raised; a host's own works on decoded copies."""

    def mine(_tool: str, result: dict[str, Any]) -> str | None:
        result["changed"] = True
        return "my rule" if result.get("status") == "done" else None

    async with recording(mode="full", result_classifier=mine) as (client, sink, mw):
        answer = await call(client, "render", scene="a")
        assert answer.structured_content == {"status": "done"}
        await mw.flush()
        assert [(r.outcome, r.error_message, r.result) for r in sink.calls] == [("soft_error", "my rule", {"status": "done"})]
    async with recording(result_classifier=None) as (client, sink, mw):
        await call(client, "render", scene="big")
        await mw.flush()
        assert [r.outcome for r in sink.calls] == ["ok"]


class _BrokenRedactor(Redactor):
    def redact(self, value: Any) -> Any:
        raise RuntimeError("redactor")

    def redact_text(self, text: str) -> str:
        raise RuntimeError("redactor")


async def test_a_redactor_that_raises_leaks_nothing(contained: Contained) -> None:
    """The record is stored without what could not be redacted."""
    async with recording(mode="full", redactor=_BrokenRedactor()) as (client, sink, mw):
        await call(client, "render", scene="hush", api_key="k-123456789")
        await call(client, "boom", text="hush hush")
        await mw.flush()
        assert len(sink.calls) == 2
        assert "hush" not in repr(sink.calls)
        assert "123456789" not in repr(sink.calls)
    assert {where for where, _ in contained} == {"redactor"}


async def test_a_redactor_of_the_hosts_own_is_asked() -> None:
    """A subclass that knows more is used for payloads and for texts."""

    class Mine(Redactor):
        def redact_text(self, text: str) -> str:
            return super().redact_text(text).replace("scene-9", "<scene>")

        def redact(self, value: Any) -> Any:
            if isinstance(value, Mapping):
                return {key: self.redact(item) for key, item in super().redact(value).items()}
            return self.redact_text(value) if isinstance(value, str) else value

    async with recording(mode="full", redactor=Mine()) as (client, sink, mw):
        await call(client, "boom", text="scene-9 fails")
        await mw.flush()
        (record,) = sink.calls
        assert (record.args, record.error_message) == ({"text": "<scene> fails"}, "<scene> fails")


async def test_a_secret_of_the_arguments_stays_out_of_everything_later_in_meta_mode_too() -> None:
    """The value removed from the arguments does not come back in the error text, extra or an event."""
    app = studio()

    @app.tool
    async def login(password: str) -> str:
        mw.record_event("login.tried", attrs={"note": f"with {password}"})
        raise PermissionError(f"wrong password {password}")

    for mode in ("meta", "full"):
        async with recording(app, mode=mode, enricher=lambda _t, a, _r, _c: {"tried": f"<{a['password']}>"}) as (client, sink, recorder):
            mw = recorder
            await call(client, "login", password="s3cr3t-w0rd")
            await mw.flush()
            assert len(sink.records) == 2
            assert "s3cr3t-w0rd" not in repr(sink.records)
        app.middleware.clear()


async def test_sampling_keeps_failures_and_calls_with_events() -> None:
    """Of a sampled tool only ok calls without events may be left out; the kept one carries the rate."""
    app = studio()

    @app.tool
    async def noisy() -> str:
        mw.record_event("noise")
        return "done"

    draws = iter([0.9, 0.05, 0.9, 0.9])
    rates = {"ping": 0.1, "boom": 0.1, "noisy": 0.1}
    async with recording(app, sample_rates=rates, random=lambda: next(draws)) as (client, sink, recorder):
        mw = recorder
        for tool in ("ping", "ping", "boom", "noisy"):
            await call(client, tool)
        await mw.flush()
        assert [(r.tool, r.sample_rate) for r in sink.calls] == [("ping", 0.1), ("boom", None), ("noisy", None)]


async def test_a_sampled_out_call_that_gets_linked_is_stored() -> None:
    """Linking it to a report makes it count after all."""
    async with recording(sample_rates={"ping": 0.01}, random=lambda: 0.5) as (client, sink, mw):
        await call(client, "ping")
        await mw.flush()
        assert sink.calls == []
        links = await mw.capture_recent_calls(calls=[mw.call_log.newest_first()[0].id])
        assert [(link.tool, link.rule, link.ok) for link in links] == [("ping", "reference", True)]
        assert await mw.link_feedback("r1", links)
        await mw.flush()
        assert [record.tool for record in sink.calls] == ["ping"]


async def test_error_messages_are_cut_after_redaction() -> None:
    """A secret that the cut would have split is gone, and the text has the length of the limit."""
    async with recording(max_error_chars=40) as (client, sink, mw):
        await call(client, "boom", text="password=abcdefghijklmnopqrstuvwxyz0123456789 " + "y" * 100)
        await mw.flush()
        (record,) = sink.calls
        assert record.error_message is not None
        assert len(record.error_message) == 40
        assert "abcdefgh" not in record.error_message


async def test_a_payload_over_the_limit_becomes_a_marker_with_a_preview() -> None:
    """Size as `json.dumps` counts it, and the head of the redacted text."""
    app: FastMCP[Any] = FastMCP("big")

    @app.tool
    async def rows() -> dict[str, Any]:
        return {"password": "hunter22", "rows": ["x" * 50] * 100}

    async with recording(app, mode="full", max_payload_bytes=2000) as (client, sink, mw):
        await call(client, "rows")
        await mw.flush()
        (record,) = sink.calls
    assert record.result_size == len(json.dumps({"password": "hunter22", "rows": ["x" * 50] * 100}))
    assert record.result["_truncated"] is True
    assert record.result["size"] == record.result_size
    assert len(record.result["preview"]) == 500
    assert record.result["preview"].startswith('{"password": "[REDACTED]", "rows": ["xxx')


async def test_call_reference_goes_into_meta_and_content_stays() -> None:
    """The result's `_meta` carries a short reference that links the call when it is quoted."""
    async with recording(call_reference=True) as (client, _sink, mw):
        answer = await call(client, "ping")
        assert [item.text for item in answer.content] == ["pong"]
        reference = answer.meta["fastmcp_feedback"]["call"]
        links = await mw.capture_recent_calls(calls=[reference])
        assert [(link.tool, link.rule) for link in links] == [("ping", "reference")]


def test_fault_hook_overrides_the_fault() -> None:
    """The host knows better whose fault it was; it sees the record and the exception."""
    app, sink, seen = studio(), MemorySink(), []

    def mine(record: ToolCallRecord, exc: BaseException | None) -> str | None:
        seen.append((record.tool, type(exc).__name__))
        return "upstream" if record.tool == "boom" else None

    mw = instrument(app, [sink], fault_hook=mine)

    async def main() -> None:
        async with Client(app) as client:
            await call(client, "boom")
            await call(client, "render", scene="big")
        await mw.aclose()

    asyncio.run(main())
    assert [record.failure.fault for record in sink.calls if record.failure] == ["upstream", "server"]
    assert seen == [("boom", "ValueError" if IS_V2 else "ToolError"), ("render", "NoneType")] or seen[0][0] == "boom"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "loud"}, "mode='loud': must be one of off, meta, full"),
        ({"sample_rates": {"t": 0}}, "above 0 and at most 1"),
        ({"sample_rates": {"t": 1.5}}, "above 0 and at most 1"),
        ({"sample_rates": {"t": float("nan")}}, "above 0 and at most 1"),
        ({"max_payload_bytes": 0}, "max_payload_bytes=0: must be a positive whole number"),
        ({"max_error_chars": -5}, "max_error_chars=-5: must be"),
        ({"hook_timeout": 0}, "hook_timeout=0: must be"),
        ({"exclude_tools": "render"}, r"must be a collection of names, such as \('render',\)"),
    ],
)
def test_a_wrong_option_is_a_value_error_that_says_what_is_allowed(options: dict[str, Any], message: str) -> None:
    """At construction, naming the option."""
    with pytest.raises(ValueError, match=message):
        InstrumentationMiddleware([], **options)


@pytest.mark.parametrize(
    ("sinks", "options", "message"),
    [
        ([], {"modus": "full"}, "unknown option 'modus'"),
        ([object()], {}, "needs `async write"),
        ([MemorySink], {}, "the class MemorySink"),
        (MemorySink(), {}, r"put it into \[ \]"),
        ([], {"identity_resolver": "who"}, "identity_resolver must be a function"),
        ([], {"redactor": object()}, "redactor must have a method redact"),
    ],
)
def test_a_wrong_kind_of_thing_is_a_type_error(sinks: Any, options: dict[str, Any], message: str) -> None:
    """A sink without `write`, a hook that is no function, an option that does not exist."""
    with pytest.raises(TypeError, match=message):
        InstrumentationMiddleware(sinks, **options)


def test_instrumenting_twice_is_an_error() -> None:
    """The second recorder would record everything twice."""
    app = studio()
    instrument(app, [MemorySink()])
    with pytest.raises(ValueError, match="'studio' is instrumented already"):
        instrument(app, [MemorySink()])
    with pytest.raises(TypeError, match="takes a FastMCP server"):
        instrument(object())


async def test_the_default_classifier_is_the_default() -> None:
    """`instrument` without the option uses `DEFAULT_RESULT_CLASSIFIER`."""
    async with recording() as (_client, _sink, mw):
        assert mw.options.result_classifier is DEFAULT_RESULT_CLASSIFIER


async def test_two_hundred_concurrent_calls_keep_their_events_apart() -> None:
    """Two hundred records, and every event carries its own call's id."""
    app: FastMCP[Any] = FastMCP("busy")

    @app.tool
    async def work(n: int) -> int:
        await asyncio.sleep(0.001)
        mw.record_event("step", key=n)
        return n

    async with recording(app, mode="full") as (client, sink, recorder):
        mw = recorder
        await asyncio.gather(*(call(client, "work", n=n) for n in range(200)))
        await mw.flush()
        of_call = {record.id: str(record.args["n"]) for record in sink.calls}
        assert len(of_call) == 200
        events: Sequence[Any] = sink.events
        assert len(events) == 200
        assert all(of_call[event.call_id] == event.key for event in events)


async def test_three_clients_one_after_the_other_are_all_recorded() -> None:
    """An in-memory client enters and leaves the lifespan each time; recording goes on."""
    app, sink = studio(), MemorySink()
    mw = instrument(app, [sink])
    for _ in range(3):
        async with Client(app) as client:
            await call(client, "ping")
    await mw.flush()
    assert len(sink.calls) == 3
    await mw.aclose()
