"""The same promises through the recorder itself: callers, conversations and mounted calls as they are stored."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import AsyncExitStack
from typing import Any

import pytest
from fastmcp import Context, FastMCP
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier

from fastmcp_feedback.capture.identity import default_identity_resolver
from fastmcp_feedback.instrumentation import InstrumentationMiddleware, MemorySink, ToolCallRecord, instrument
from support.capturing import call_from_body, client, mount
from support.servers import http_server
from support.versions import IS_V4

USERS = 30
MODES = [pytest.param(True, id="legacy"), *([pytest.param(False, id="modern")] if IS_V4 else [])]


def served(sink: MemorySink, **options: Any) -> tuple[FastMCP[Any], InstrumentationMiddleware]:
    """A server that asks for one of the users' tokens, and its recorder."""
    users = {f"token-{n}": {"client_id": "desktop", "scopes": ["read"], "sub": f"user-{n}"} for n in range(USERS)}
    app: FastMCP[Any] = FastMCP("app", auth=StaticTokenVerifier(users))
    mw = instrument(app, [sink], mode="full", **options)

    @app.tool
    async def t(who: str) -> str:
        """Answer."""
        await asyncio.sleep(0)
        return who

    return app, mw


async def everybody_calls(app: FastMCP[Any], *, legacy: bool, stateless: bool) -> None:
    """Two calls of every user, all in flight together, all with the same forged header and baggage where possible."""
    forged = {"mcp-session-id": "shared"} if stateless else {}
    together = asyncio.Barrier(USERS)

    async def use(url: str, number: int) -> None:
        async with client(StreamableHttpTransport(url, headers=forged, auth=f"token-{number}"), legacy=legacy) as c:
            for _ in range(2):
                await together.wait()
                await c.call_tool("t", {"who": f"user-{number}"}, meta={"baggage": "gen_ai.conversation.id=shared"})

    async with http_server(app, stateless=stateless) as url:
        await asyncio.gather(*(use(url, number) for number in range(USERS)))


def keys_by_user(records: list[ToolCallRecord]) -> dict[str, set[str | None]]:
    """Conversation keys of every caller."""
    found: dict[str, set[str | None]] = defaultdict(set)
    for record in records:
        found[record.args["who"]].add(record.conversation_key)
    return found


@pytest.mark.parametrize("resolver", [default_identity_resolver, None], ids=["resolver", "plain"])
@pytest.mark.parametrize("legacy", MODES)
@pytest.mark.parametrize("stateless", [False, True], ids=["sessions", "stateless"])
async def test_no_record_bears_anothers_identity_or_conversation(*, legacy: bool, stateless: bool, resolver: Any) -> None:
    """With and without sessions, with and without an identity resolver, under forged headers and baggage."""
    sink = MemorySink()
    app, mw = served(sink, identity_resolver=resolver)
    await everybody_calls(app, legacy=legacy, stateless=stateless)
    assert await mw.flush()

    keys = keys_by_user(sink.calls)
    assert len(sink.calls) == 2 * USERS
    assert {len(found) for found in keys.values()} == {1}
    assert len({key for found in keys.values() for key in found}) == USERS
    assert {record.conversation_basis for record in sink.calls} == {"session" if legacy and not stateless else "baggage"}
    if resolver is not None:
        assert [record.user_sub for record in sink.calls] == [record.args["who"] for record in sink.calls]
        assert {record.client_id for record in sink.calls} == {"desktop"}
        assert all(record.identity["scopes"] == ["read"] for record in sink.calls)


@pytest.mark.parametrize("legacy", MODES)
async def test_a_hosts_own_user_is_part_of_the_conversation(legacy: bool) -> None:
    """Two users whom only the host can tell apart do not share the process's conversation."""
    sink = MemorySink()
    app: FastMCP[Any] = FastMCP("app")
    mw = instrument(app, [sink], mode="full", identity_resolver=lambda context: {"user_sub": context.message.arguments["who"]})

    @app.tool
    def t(who: str) -> str:
        """Answer."""
        return who

    async with client(app, legacy=legacy) as c:
        for who in ("alice", "bob", "alice"):
            await c.call_tool("t", {"who": who})
    assert await mw.flush()

    assert {len(found) for found in keys_by_user(sink.calls).values()} == {1}
    assert len({record.conversation_key for record in sink.calls}) == 2


async def test_mounted_servers_with_one_recorder_store_one_call(tmp_path: Any) -> None:
    """Also when another recorder, which watches some of them only, stands in between."""
    sinks = MemorySink(), MemorySink()
    parent, child = FastMCP[Any]("parent"), FastMCP[Any]("child")
    first = instrument(parent, [sinks[0]])
    child.add_middleware(first)
    second = InstrumentationMiddleware([sinks[1]])
    parent.add_middleware(second)

    @child.tool
    async def z(q: int = 0) -> str:
        """Answer."""
        return str(q)

    @parent.tool
    async def body(ctx: Context) -> str:
        """Call the mounted tool."""
        await call_from_body(ctx, "ch_z", {"q": 1})
        return "done"

    mount(parent, child, "ch")
    async with client(parent) as c:
        await c.call_tool("ch_z", {"q": 1})
        await c.call_tool("body", {})
    assert await first.flush()
    assert await second.flush()

    for sink in sinks:
        assert sorted(record.tool for record in sink.calls) == ["body", "ch_z", "ch_z"]
        by_parent = {record.parent_call_id: record.tool for record in sink.calls if record.parent_call_id is not None}
        (outer,) = (record.id for record in sink.calls if record.tool == "body")
        assert by_parent == {outer: "ch_z"}


async def test_a_call_that_has_ended_is_nobodys_parent() -> None:
    """A connection that a tool opened lives on; calls over it later do not belong to that tool's call."""
    sink = MemorySink()
    app: FastMCP[Any] = FastMCP("app")
    mw = instrument(app, [sink])
    async with AsyncExitStack() as stack:
        held: list[Any] = []

        @app.tool
        async def opener() -> str:
            """Open a connection and leave it open."""
            held.append(await stack.enter_async_context(client(app, legacy=True)))
            return "open"

        @app.tool
        async def t() -> str:
            """Answer."""
            return "x"

        async with client(app, legacy=True) as c:
            await c.call_tool("opener", {})
        await held[0].call_tool("t", {})
        assert await mw.flush()

    assert {record.tool: record.parent_call_id for record in sink.calls} == {"opener": None, "t": None}
