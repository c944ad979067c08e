"""One call or two: mounted dispatches against calls that a tool's body makes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio.from_thread
import pytest
from fastmcp import Context, FastMCP
from fastmcp.server.middleware import Middleware
from fastmcp.server.middleware.timing import TimingMiddleware
from fastmcp.tools import Tool

from support.capturing import Probe, call_directly, call_from_body, client, mount, proxy_of
from support.versions import IS_V2

Family = tuple[FastMCP[Any], FastMCP[Any], FastMCP[Any]]


@pytest.fixture
def family(probe: Probe) -> Family:
    """Parent, child and grandchild, all watched by one probe; the grandchild has the tool `z`."""
    parent, child, grandchild = FastMCP("parent"), FastMCP("child"), FastMCP("grandchild")
    for app in (parent, child, grandchild):
        app.add_middleware(probe)
    grandchild.tool(z)
    mount(child, grandchild, "g")
    mount(parent, child, "ch")
    return parent, child, grandchild


def z(q: int = 0) -> str:
    """Answer."""
    return f"z {q}"


class Passing(Middleware):
    """A host's own middleware."""

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Pass on."""
        return await call_next(context)


class Racing(Middleware):
    """A host's middleware that runs the call in a task of its own."""

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Pass on from a task."""
        return await asyncio.create_task(call_next(context))


class Helped(Middleware):
    """A host's middleware that calls on by way of a plain function, as retry libraries do."""

    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        """Pass on from a helper."""

        async def attempt(function: Callable[[Any], Awaitable[Any]]) -> Any:
            return await function(context)

        return await attempt(call_next)


async def test_a_call_through_three_mounted_servers_is_one_call_under_its_outer_name(probe: Probe, family: Family) -> None:
    """Only the entry's dispatch is a call of its own."""
    async with client(family[0]) as c:
        await c.call_tool("ch_g_z", {"q": 1})

    assert probe.names == [("ch_g_z", None)]


async def test_a_direct_call_through_mounts_is_one_call(probe: Probe, family: Family) -> None:
    """Without a request the stack tells just as well."""
    await call_directly(family[0], "ch_g_z", {"q": 1})

    assert probe.names == [("ch_g_z", None)]


@pytest.mark.parametrize("inner", [Passing, Racing, Helped, TimingMiddleware])
@pytest.mark.parametrize("place", [0, 1, 2])
async def test_a_hosts_middleware_between_mounts_does_not_split_the_call(
    probe: Probe, family: Family, inner: type[Middleware], place: int
) -> None:
    """Inner middleware may wrap, delay or move the dispatch into a task; it stays the same call."""
    family[place].add_middleware(inner())
    async with client(family[0]) as c:
        await c.call_tool("ch_g_z", {"q": 1})

    assert probe.names == [("ch_g_z", None)]


async def test_a_second_recorder_in_between_sees_its_own_one_call(probe: Probe, family: Family) -> None:
    """Two objects of one class do not take each other's entries for their own."""
    second = Probe()
    for app in family[:2]:
        app.add_middleware(second)
    async with client(family[0]) as c:
        await c.call_tool("ch_g_z", {"q": 1})

    assert probe.names == [("ch_g_z", None)]
    assert [name for name, _ in second.names] == ["ch_g_z"]


async def test_a_hand_written_tool_that_calls_the_childs_tool_is_two_calls(probe: Probe, family: Family) -> None:
    """The inner call is a record of its own, with the running one as its parent, even with equal arguments."""
    parent = family[0]

    @parent.tool
    async def ch_z(ctx: Context, q: int = 0) -> str:
        await call_from_body(ctx, "ch_g_z", {"q": q})
        return "done"

    async with client(parent) as c:
        await c.call_tool("ch_z", {"q": 1})

    assert probe.names == [("ch_z", None), ("ch_g_z", "ch_z")]


async def test_a_call_of_the_childs_tool_straight_from_the_body_is_two_calls(probe: Probe, family: Family) -> None:
    """A body that calls the child server itself makes a call, although the name is a suffix of its own."""
    parent, _, grandchild = family

    @parent.tool
    async def my_z(q: int = 0) -> str:
        await call_directly(grandchild, "z", {"q": q})
        return "done"

    async with client(parent) as c:
        await c.call_tool("my_z", {"q": 1})

    assert probe.names == [("my_z", None), ("z", "my_z")]


async def test_a_mounted_tool_that_calls_another_mounted_tool_is_two_calls(probe: Probe, family: Family) -> None:
    """The child's dispatch of the first is folded into it; the call that its body makes is not."""
    parent, child, grandchild = family

    @child.tool
    async def outer(q: int = 0) -> str:
        await call_directly(grandchild, "z", {"q": q})
        return "done"

    async with client(parent) as c:
        await c.call_tool("ch_outer", {"q": 1})

    assert probe.names == [("ch_outer", None), ("z", "ch_outer")]


async def test_a_tool_that_calls_itself_is_a_call_each_time(probe: Probe) -> None:
    """Recursion: the same name, the same server, a record for each."""
    app: FastMCP[Any] = FastMCP("app")
    app.add_middleware(probe)

    @app.tool
    async def count(ctx: Context, left: int) -> int:
        if left:
            await call_from_body(ctx, "count", {"left": left - 1})
        return left

    async with client(app) as c:
        await c.call_tool("count", {"left": 2})

    assert probe.names == [("count", None), ("count", "count"), ("count", "count")]


async def test_calls_from_tasks_of_a_body_are_calls_of_their_own(probe: Probe, family: Family) -> None:
    """A task has a stack of its own; it still knows the running call as its parent."""
    parent = family[0]

    @parent.tool
    async def fan(ctx: Context) -> str:
        await asyncio.gather(*(call_from_body(ctx, "ch_g_z", {"q": q}) for q in range(2)))
        await asyncio.create_task(call_from_body(ctx, "ch_g_z", {"q": 2}))
        return "done"

    async with client(parent) as c:
        await c.call_tool("fan", {})

    assert probe.names == [("fan", None), *[("ch_g_z", "fan")] * 3]


@pytest.mark.skipif(IS_V2, reason="FastMCP 2 runs sync tools on the loop, which cannot wait for a call")
async def test_a_sync_tool_that_calls_back_from_its_thread_makes_a_call_of_its_own(probe: Probe, family: Family) -> None:
    """The thread's way back into the loop starts a new stack."""
    parent = family[0]

    @parent.tool
    def threaded(ctx: Context) -> str:
        anyio.from_thread.run(call_from_body, ctx, "ch_g_z", {"q": 1})
        return "done"

    async with client(parent) as c:
        await c.call_tool("threaded", {})

    assert probe.names == [("threaded", None), ("ch_g_z", "threaded")]


@pytest.mark.skipif(IS_V2, reason="FastMCP 2 hands a host's tool class nothing to call with")
async def test_a_hosts_own_tool_class_that_calls_on_makes_a_call_of_its_own(probe: Probe, family: Family) -> None:
    """A body is a body, whether a function or a class holds it."""
    parent, _, grandchild = family

    class Own(Tool):
        async def run(self, arguments: dict[str, Any]) -> Any:
            return await call_directly(grandchild, "z", arguments)

    parent.add_tool(Own(name="own", parameters={"type": "object", "properties": {}}))
    async with client(parent) as c:
        await c.call_tool("own", {})

    assert probe.names == [("own", None), ("z", "own")]


@pytest.mark.skipif(IS_V2, reason="FastMCP 2 calls a transformed tool without its server's middleware")
async def test_a_renamed_mounted_tool_is_one_call_under_its_new_name(probe: Probe, family: Family) -> None:
    """A transformation that only rewrites the schema is not a body."""
    parent = family[0]
    inner = await parent.get_tool("ch_g_z")
    assert inner is not None
    parent.add_tool(Tool.from_tool(inner, name="renamed"))
    async with client(parent) as c:
        await c.call_tool("renamed", {"q": 1})

    assert probe.names == [("renamed", None)]


@pytest.mark.skipif(IS_V2, reason="FastMCP 2 calls a transformed tool without its server's middleware")
async def test_a_transformation_with_a_function_of_its_own_makes_the_inner_call(probe: Probe, family: Family) -> None:
    """The function is a body, so what it forwards to is a call of its own."""
    from fastmcp.tools.tool_transform import forward

    async def twice(q: int = 0) -> Any:
        await forward(q=q)
        return await forward(q=q + 1)

    parent = family[0]
    inner = await parent.get_tool("ch_g_z")
    assert inner is not None
    parent.add_tool(Tool.from_tool(inner, name="twice", transform_fn=twice))
    async with client(parent) as c:
        await c.call_tool("twice", {"q": 1})

    assert probe.names[0] == ("twice", None)
    assert [name for _, name in probe.names[1:]] == ["twice", "twice"]


async def test_a_proxied_call_and_its_backend_call_are_two_calls(probe: Probe) -> None:
    """A proxy speaks the protocol to its backend: another request, and so another call, even in one process."""
    backend: FastMCP[Any] = FastMCP("backend")
    backend.tool(z)
    front = proxy_of(backend)
    backend.add_middleware(probe)
    front.add_middleware(probe)
    async with client(front) as c:
        await c.call_tool("z", {"q": 1})

    assert [name for name, _ in probe.names] == ["z", "z"]


async def test_a_failing_mounted_call_is_still_one_call(probe: Probe, family: Family) -> None:
    """How the call ends does not matter."""
    async with client(family[0]) as c:
        answer = await c.call_tool("ch_g_z", {"q": "not a number"}, raise_on_error=False)

    assert answer.is_error
    assert probe.names == [("ch_g_z", None)]


async def test_a_mounted_child_with_a_lifespan_is_one_call_except_on_fastmcp_2(probe: Probe) -> None:
    """FastMCP 2 mounts such a child by way of a proxy, so there it is two calls, like every proxied one."""

    @asynccontextmanager
    async def lifespan(_app: FastMCP[Any]) -> AsyncIterator[dict[str, Any]]:
        yield {}

    parent: FastMCP[Any] = FastMCP("parent")
    child: FastMCP[Any] = FastMCP("child", lifespan=lifespan)
    child.tool(z)
    parent.add_middleware(probe)
    child.add_middleware(probe)
    mount(parent, child, "ch")
    async with client(parent) as c:
        await c.call_tool("ch_z", {"q": 1})

    assert [name for name, _ in probe.names] == (["ch_z", "z"] if IS_V2 else ["ch_z"])
