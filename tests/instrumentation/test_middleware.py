"""The options of the middleware, one by one, on a real server."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fastmcp import Client, FastMCP

from fastmcp_feedback.instrumentation import (
    DEFAULT_RESULT_CLASSIFIER,
    InstrumentationMiddleware,
    MemorySink,
    ToolCallRecord,
    instrument,
)
from support.studio import call, recording, studio

if TYPE_CHECKING:
    import pytest

Contained = list[tuple[str, BaseException]]


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
    assert seen == [("boom", "ToolError"), ("render", "NoneType")]


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
