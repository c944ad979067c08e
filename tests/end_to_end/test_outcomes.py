"""One table: every way a call can end, on every transport, with the record that it leaves.

What differs between FastMCP versions stands in the table, too. Each call is made twice, with the recorder and without,
and the client gets the same.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client, FastMCP

from fastmcp_feedback.instrumentation import InstrumentationMiddleware, MemorySink, instrument
from support import outcome_server
from support.servers import http_server, stdio_client
from support.versions import IS_V2, IS_V3, IS_V4
from support.waiting import until

SCRIPT = Path(outcome_server.__file__)
TRANSPORTS = ("memory", "stdio", "http", "http-stateless")


@dataclass(frozen=True)
class Case:
    """One call and the record that it leaves."""

    tool: str
    outcome: str
    error_type: str | None = None
    message: str | None = None
    args: dict[str, Any] = field(default_factory=dict)
    records: int = 1
    fault: str | None = None
    on: bool = True  # does this FastMCP have it?


CASES = (
    Case("fine", "ok", args={"a": 3}),
    Case("raises", "error", "DiskFullError", "disk full", fault="server"),
    Case("raises_from", "error", "DiskFullError", "disk full", fault="server"),
    Case("own_tool_error", "error", "ToolError", "choose another scene", fault="server"),
    # 2.14 has no `is_error`.
    Case("marked", "soft_error", "SoftError", "isError: boom", fault="server", on=not IS_V2),
    Case("soft", "soft_error", "SoftError", "ok=False: disk full", fault="server"),
    Case("no_such_tool", "error", "NotFoundError", fault="caller"),
    Case("fine", "error", "ValidationError", args={"a": "not a number"}, fault="caller"),
    # FastMCP 4 notices a sync tool's timeout when its body has ended, FastMCP 3 not at all.
    Case("too_slow", "error", "MCPError" if IS_V4 else "McpError", on=not IS_V2),
    Case("too_slow_sync", "ok" if IS_V3 else "error", None if IS_V3 else "MCPError", on=not IS_V2),
    Case("big", "ok"),
    Case("image", "ok"),
    Case("mutates", "ok", args={"items": [1, 2]}),
    Case("calls_another", "ok", records=2, on=not IS_V2),
)
HERE = [case for case in CASES if case.on]


@asynccontextmanager
async def client_of(app: FastMCP[Any], transport: str, records: Path | None) -> AsyncIterator[Client[Any]]:
    """A connected client; over stdio the server is a process of its own that writes to `records`."""
    if transport == "memory":
        async with Client(app) as client:
            yield client
    elif transport == "stdio":
        async with stdio_client(SCRIPT, *([str(records)] if records else []), env={"PYTHONPATH": str(SCRIPT.parents[1])}) as client:
            yield client
    else:
        async with http_server(app, stateless=transport == "http-stateless") as url, Client(url) as client:
            yield client


def recorded(transport: str, records: Path, sink: MemorySink) -> Callable[[], list[dict[str, Any]]]:
    """A function that gives the calls recorded so far."""
    if transport != "stdio":
        return lambda: [call.to_dict() | {"fault": call.failure.fault if call.failure else None} for call in sink.calls]
    return lambda: [json.loads(line) for line in records.read_text().splitlines()] if records.exists() else []


def reached(seen: Callable[[], list[dict[str, Any]]], total: int) -> bool:
    """Are there so many records?"""
    return len(seen()) >= total


async def what_the_client_gets(client: Client[Any], case: Case) -> object:
    """The answer or the error, comparable between two runs."""
    try:
        answer = await client.call_tool(case.tool, dict(case.args))
    except Exception as exc:  # noqa: BLE001 - compared below
        return type(exc).__name__, str(exc)
    return [item.model_dump() for item in answer.content], answer.structured_content, answer.is_error


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_every_outcome_leaves_its_record_and_the_client_its_answer(transport: str, tmp_path: Path) -> None:
    """Exact number of records, outcome and cause for each case; the answers are those of the bare server."""
    async with client_of(outcome_server.build(), transport, None) as client:
        answers = [await what_the_client_gets(client, case) for case in HERE]

    app, sink, file = outcome_server.build(), MemorySink(), tmp_path / "records.jsonl"
    mw = instrument(app, [sink], mode="full")
    seen = recorded(transport, file, sink)
    async with client_of(app, transport, file) as client:
        before = 0
        for case, bare_answer in zip(HERE, answers, strict=True):
            assert await what_the_client_gets(client, case) == bare_answer, case
            if transport != "stdio":
                assert await mw.flush()
            total = before + case.records
            await until(partial(reached, seen, total))
            new = seen()[before:]
            assert len(new) == case.records, (case, new)
            before = len(seen())
            check_record(case, new[-1], stored_fault=transport != "stdio")
    if transport != "stdio":
        await mw.aclose()
        assert [call.id for call in sink.calls if call.parent_call_id] == [call.id for call in sink.calls if call.tool == "fine"][2:]


def check_record(case: Case, record: dict[str, Any], *, stored_fault: bool) -> None:
    """The record of the case itself; of calls made by its tool the record comes before."""
    assert record["tool"] == case.tool
    assert (record["outcome"], record["error_type"]) == (case.outcome, case.error_type), record
    assert record["ok"] is (case.outcome == "ok")
    assert record["mode"] == "full"
    if case.message is not None:
        assert record["error_message"] == case.message
    if case.fault is not None and stored_fault:
        assert record["fault"] == case.fault
    assert record["args"] == case.args
    if case.tool == "big":
        assert record["result"]["_truncated"] is True
        assert record["result_size"] == record["result"]["size"] == outcome_server.BIG_CHARS + len('{"text": ""}')
    if case.tool == "image":
        assert record["result"] == [{"type": "image"}]
    if case.tool == "mutates":
        assert record["args"] == {"items": [1, 2]}


async def test_a_mounted_child_with_the_same_middleware_leaves_one_record() -> None:
    """The outer name is recorded, once."""
    parent, child = outcome_server.build_mounted()
    sink = MemorySink()
    mw = InstrumentationMiddleware([sink])
    parent.add_middleware(mw)
    child.add_middleware(mw)
    async with Client(parent) as client:
        await client.call_tool("ch_deep", {"a": 1})
    await mw.flush()
    assert [(call.tool, call.outcome) for call in sink.calls] == [("ch_deep", "ok")]
    await mw.aclose()


@pytest.mark.skipif(not IS_V4, reason="a cancellation reaches the tool on FastMCP 4 only")
async def test_a_cancelled_call_is_recorded_as_such_and_a_sync_one_as_it_ended() -> None:
    """An async tool that the client gives up on is `error` / `CancelledError`; a thread cannot be cancelled."""
    app, sink = outcome_server.build(), MemorySink()
    mw = instrument(app, [sink])
    async with Client(app) as client:
        for tool in ("sleeps", "sleeps_sync"):
            with pytest.raises(Exception, match=r"(?i)time"):
                await client.call_tool(tool, {}, timeout=0.1)
        await until(lambda: not mw.running_calls())
    await mw.flush()
    found = {call.tool: (call.outcome, call.error_type) for call in sink.calls}
    assert found == {"sleeps": ("error", "CancelledError"), "sleeps_sync": ("ok", None)}
    faults = {call.tool: call.failure.fault for call in sink.calls if call.failure}
    assert faults == {"sleeps": "cancelled"}
    await mw.aclose()
