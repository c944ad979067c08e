"""Session, request and conversation of a call on every transport, with real clients."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fastmcp import FastMCP
from fastmcp.client.transports import SSETransport, StreamableHttpTransport
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, use_span

import support.stdio_probe
from fastmcp_feedback.capture.conversation import process_key
from support.capturing import Probe, call_directly, client
from support.servers import http_server, stdio_client
from support.versions import IS_V2, IS_V4

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
MODES = [pytest.param(True, id="legacy"), *([pytest.param(False, id="modern")] if IS_V4 else [])]


@pytest.fixture
def app(probe: Probe) -> FastMCP[Any]:
    """A server with one tool, watched by the probe."""
    server: FastMCP[Any] = FastMCP("app")
    server.add_middleware(probe)

    @server.tool
    def t(q: int = 0) -> str:
        """Answer."""
        return str(q)

    return server


@asynccontextmanager
async def connected(url: str, *, legacy: bool = True, **headers: str) -> AsyncIterator[Any]:
    """A client over streamable HTTP that sends these headers with every request."""
    transport = StreamableHttpTransport(url, headers={key.replace("_", "-"): value for key, value in headers.items()})
    async with client(transport, legacy=legacy) as c:
        yield c


async def test_a_direct_call_has_no_session_and_belongs_to_the_process(app: FastMCP[Any], probe: Probe) -> None:
    """Without a request nothing else is known, and nothing fails."""
    await call_directly(app, "t", {})

    context = probe.last.context
    assert (context.session_id, context.request_id, context.client_id) == (None, None, None)
    assert (context.conversation_basis, context.conversation_key) == ("process", f"process/{process_key()}")
    assert probe.last.client == {}


@pytest.mark.parametrize("legacy", MODES)
async def test_calls_in_memory_belong_to_the_process(app: FastMCP[Any], probe: Probe, legacy: bool) -> None:
    """The session id is FastMCP's, the conversation is the process, the request id is the client's."""
    async with client(app, legacy=legacy) as c:
        await c.call_tool("t", {})
        await c.call_tool("t", {})

    first, second = probe.calls
    assert first.context.session_id == first.own_session_id
    assert (first.context.session_id == second.context.session_id) is legacy
    assert first.key == second.key == f"process/{process_key()}"
    assert first.context.request_id != second.context.request_id
    assert first.context.request_id is not None


@pytest.mark.parametrize("legacy", MODES)
async def test_a_stdio_server_is_one_session_and_one_conversation(legacy: bool) -> None:
    """Every call of a process has one session key, and another process has another one."""
    script = Path(support.stdio_probe.__file__)
    answers = []
    for _ in range(2):
        options: dict[str, Any] = {"mode": "legacy"} if IS_V4 and legacy else {}
        async with stdio_client(script, **options) as c:
            answers += [(await c.call_tool("seen", {})).data for _ in range(2)]

    first, second, other, _ = answers
    assert first["session_id"] == second["session_id"] != other["session_id"]
    assert first["key"] == second["key"] != other["key"]
    assert first["basis"] == "process"
    assert first["client"].get("transport") == (None if IS_V2 else "stdio")


async def test_a_session_over_http_is_the_servers_own_id(app: FastMCP[Any], probe: Probe) -> None:
    """The header is the session id; two clients are two sessions and two conversations."""
    async with http_server(app) as url, connected(url) as a, connected(url) as b:
        for c in (a, b, a):
            await c.call_tool("t", {})

    first, other, again = probe.calls
    assert first.context.session_id is not None
    assert first.context.session_id not in first.key
    assert first.context.conversation_basis == "session"
    assert first.context.session_id == first.own_session_id
    assert first.key == again.key
    assert first.key != other.key
    assert first.client["transport"] == "streamable-http"


@pytest.mark.parametrize(
    ("legacy", "stateless"),
    [(True, True), *([(False, True), (False, False)] if IS_V4 else [])],
)
async def test_a_forged_session_header_is_recorded_but_not_trusted(app: FastMCP[Any], probe: Probe, legacy: bool, stateless: bool) -> None:
    """Where the server issues no sessions a header joins nobody to anything."""
    async with http_server(app, stateless=stateless) as url:
        for _ in range(2):
            async with connected(url, legacy=legacy, mcp_session_id="stolen") as c:
                await c.call_tool("t", {})

    for seen in probe.calls:
        assert seen.context.session_id == "stolen"
        assert (seen.context.conversation_key, seen.context.conversation_basis) == (None, None)


async def test_an_http_server_with_sessions_refuses_a_forged_one(app: FastMCP[Any], probe: Probe) -> None:
    """An id that the server never issued does not reach a tool."""
    async with http_server(app) as url:
        with pytest.raises(Exception, match=r"404|[Tt]erminated|not found"):
            async with connected(url, mcp_session_id="stolen") as c:
                await c.call_tool("t", {})

    assert probe.calls == []


@pytest.mark.parametrize("legacy", MODES)
async def test_a_stateless_call_has_no_conversation_unless_baggage_names_one(app: FastMCP[Any], probe: Probe, legacy: bool) -> None:
    """An anonymous caller without a session is joined by the baggage that it sends, and by nothing else."""
    async with http_server(app, stateless=True) as url, connected(url, legacy=legacy) as c:
        await c.call_tool("t", {})
        for baggage in ("a=1,gen_ai.conversation.id=chat%207;p=1", "gen_ai.conversation.id = chat%207", "gen_ai.conversation.id=chat%208"):
            await c.call_tool("t", {}, meta={"baggage": baggage})

    plain, named, again, other = probe.calls
    assert (plain.context.conversation_key, plain.context.conversation_basis) == (None, None)
    assert named.context.conversation_basis == "baggage"
    assert named.key == again.key != other.key
    assert "chat" not in named.key


async def test_an_sse_stream_is_a_conversation_whatever_its_headers_say(app: FastMCP[Any], probe: Probe) -> None:
    """SSE never checks a session header, so each stream has a key of its own."""
    async with http_server(app, transport="sse", path="/mcp") as url:
        for _ in range(2):
            transport = SSETransport(url, headers={"mcp-session-id": "stolen"})
            async with client(transport, legacy=True) as c:
                await c.call_tool("t", {})
                await c.call_tool("t", {})

    first, second, other, _ = probe.calls
    assert first.context.conversation_basis == "session"
    assert first.key == second.key != other.key
    assert "stolen" not in first.key
    assert first.client["transport"] == "sse"


@pytest.mark.parametrize("legacy", MODES)
async def test_client_and_protocol_are_known_over_http(app: FastMCP[Any], probe: Probe, legacy: bool) -> None:
    """From `_meta` on the newest protocol, from `initialize` before."""
    async with http_server(app) as url, connected(url, legacy=legacy, user_agent="made-up/1.0") as c:
        await c.call_tool("t", {})

    seen = probe.last.client
    assert seen["client_name"] == ("fastmcp" if IS_V4 else "mcp")
    assert seen["client_version"]
    assert (seen["protocol_version"] >= "2026-07-28") is not legacy
    assert seen["user_agent"] == "made-up/1.0"


async def test_a_legacy_stateless_call_still_tells_protocol_and_agent(app: FastMCP[Any], probe: Probe) -> None:
    """It never saw `initialize`, so the client's name is missing."""
    async with http_server(app, stateless=True) as url, connected(url) as c:
        await c.call_tool("t", {})

    assert "client_name" not in probe.last.client
    assert probe.last.client["protocol_version"].startswith("2025-")
    assert probe.last.client["user_agent"]


@pytest.mark.parametrize("legacy", MODES)
async def test_the_clients_own_id_and_trace_come_from_meta(app: FastMCP[Any], probe: Probe, legacy: bool) -> None:
    """`_meta.client_id` is FastMCP's client id; a trace parent names trace and span where no span is current."""
    async with client(app, legacy=legacy) as c:
        await c.call_tool("t", {}, meta={"client_id": "c" * 300, "traceparent": f"00-{TRACE}-{SPAN}-01"})

    context = probe.last.context
    assert context.client_id == "c" * 255
    assert context.trace_id == TRACE


async def test_the_current_span_wins(app: FastMCP[Any], probe: Probe) -> None:
    """A host that traces its own code finds its calls by its own ids."""
    span = NonRecordingSpan(SpanContext(int(TRACE, 16), int(SPAN, 16), is_remote=False, trace_flags=TraceFlags(1)))
    with use_span(span):
        await call_directly(app, "t", {})

    assert (probe.last.context.trace_id, probe.last.context.span_id) == (TRACE, SPAN)


async def test_a_span_that_has_ended_is_not_this_calls(app: FastMCP[Any], probe: Probe) -> None:
    """Before FastMCP 4 a session keeps the span of the request that opened it, long after that request."""

    class Ended(NonRecordingSpan):
        end_time = 1

    async with AsyncExitStack() as stack:
        with use_span(Ended(SpanContext(1, 1, is_remote=False, trace_flags=TraceFlags(1)))):
            c = await stack.enter_async_context(client(app, legacy=True))
        await c.call_tool("t", {}, meta={"traceparent": f"00-{TRACE}-{SPAN}-01"})

    assert probe.last.context.trace_id == TRACE


@pytest.mark.parametrize("meta", [{"baggage": 7, "traceparent": ["x"], "client_id": {"a": 1}}, {"traceparent": "00-zz"}])
async def test_odd_meta_costs_nothing_but_itself(app: FastMCP[Any], probe: Probe, meta: dict[str, Any]) -> None:
    """A client may send anything under these names."""
    async with client(app) as c:
        await c.call_tool("t", {}, meta=meta)

    assert probe.last.context.request_id is not None
    assert probe.last.context.conversation_basis == "process"
