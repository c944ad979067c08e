"""A client behind the proxy sees the server itself, whatever it asks and is asked."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp.shared.exceptions import MCPError

from support.proxied import PROXY, connected, rows
from support.waiting import until, wait_until

if TYPE_CHECKING:
    from fastmcp import Client

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


class Person:
    """The other end of a client: answers questions, hears messages."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def options(self) -> dict[str, Any]:
        """What a client needs to know of it."""
        return {
            "elicitation_handler": self.elicit, "sampling_handler": self.sample, "log_handler": self.log,
            "message_handler": self.message, "roots": ["file:///scenes"],
        }  # fmt: skip

    async def elicit(self, message: str, response_type: Any, params: Any, context: Any) -> Any:
        """Say yes."""
        return {"value": f"yes to {message}"}

    async def sample(self, messages: Any, params: Any, context: Any) -> str:
        """Say it again."""
        return f"again: {messages[0].content.text}"

    async def log(self, message: Any) -> None:
        """Hear a log message."""
        self.heard.append((message.level, message.data))

    async def message(self, message: Any) -> None:
        """Hear that a list has changed."""
        self.heard.append(type(message).__name__)


async def answer(client: Client[Any], tool: str, **arguments: Any) -> Any:
    """What a call gives: a result, an error as text, or an error of the protocol."""
    try:
        result = await client.call_tool_mcp(tool, arguments)
    except MCPError as exc:
        return ("error of the protocol", exc.error.model_dump())
    return result.model_dump()


async def everything(client: Client[Any], person: Person) -> list[Any]:
    """What a client sees of a server, in the order in which it is likely to be lost: lists first, questions later."""
    steps: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    seen: list[Any] = [client.protocol_version, client.instructions, client.server_info, client.server_capabilities]
    seen.append([tool.model_dump() for tool in await client.list_tools()])
    seen += [[item.model_dump() for item in await client.list_resources()], [item.model_dump() for item in await client.list_prompts()]]
    seen.append([item.model_dump() for item in await client.list_resource_templates()])
    for tool, arguments in (("add", {"a": 1, "b": 2}), ("boom", {}), ("rich_error", {}), ("add", {"a": "x"}), ("no_such_tool", {})):
        seen.append(await answer(client, tool, **arguments))
    await client.call_tool("slow", {}, progress_handler=on_progress)
    seen += [await answer(client, "talk"), await answer(client, "roots"), await answer(client, "sample", text="hello")]
    seen.append(await asyncio.gather(*(answer(client, "ask", question=str(number)) for number in range(4))))
    resource = await client.read_resource("data://text")
    prompt = await client.get_prompt("greet", {"name": "you"})
    seen += [steps, resource[0].text, prompt.messages[0].content.text]  # type: ignore[union-attr]  # texts, both
    seen.append([await answer(client, "count"), await answer(client, "count")])
    return [*seen, person.heard]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_sees_the_server_itself(server: list[str], tmp_path: Path, mode: str) -> None:
    """Lists, answers, errors, progress, resources, prompts, questions and messages are those of the server without the proxy."""
    database = tmp_path / "calls.db"
    person = Person()
    async with connected(server, mode=mode, **person.options()) as client:
        bare = await everything(client, person)
    person = Person()
    async with connected([*PROXY, "--db", str(database), "--mode", "full", "--", *server], mode=mode, **person.options()) as client:
        assert await everything(client, person) == bare
    assert len(person.heard) >= 2
    await until(lambda: len(rows(database)) == 15)
    kinds = [(tool, outcome) for tool, outcome, _ in rows(database)][:6]
    assert kinds == [
        ("add", "ok"), ("boom", "soft_error"), ("rich_error", "soft_error"), ("add", "soft_error"), ("no_such_tool", "soft_error"),
        ("slow", "ok"),
    ]  # fmt: skip
    assert rows(database)[1][2] == "isError: Error calling tool 'boom': bad thing"
    assert set(rows(database, "server_version, extra")) == {("7.1", '{"server":"inner"}')}
    assert database.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_server_that_knows_only_the_handshake_is_passed_as_it_is(old_server: list[str], tmp_path: Path, mode: str) -> None:
    """The client uses the handshake, too; capabilities, titles, errors of the protocol and tools that are not listed are the server's."""

    async def all_of_it(client: Client[Any]) -> list[Any]:
        info = client.server_info
        seen: list[Any] = [info and info.name, client.instructions, [tool.model_dump() for tool in await client.list_tools()]]
        assert client.server_capabilities is not None
        seen += [client.server_capabilities.prompts, client.server_capabilities.resources, client.server_capabilities.tools]
        seen += [await answer(client, tool) for tool in ("echo_it", "refuse", "bad", "not_listed")]
        return [*seen, await client.ping()]

    database = tmp_path / "calls.db"
    async with connected(old_server, mode=mode) as client:
        bare = await all_of_it(client)
    async with connected([*PROXY, "--db", str(database), "--", *old_server], mode=mode) as client:
        assert await all_of_it(client) == bare
    await until(lambda: len(rows(database)) == 4)
    assert [outcome for _, outcome, _ in rows(database)] == ["ok", "error", "soft_error", "ok"]


async def test_a_call_that_is_given_up_is_given_up_behind_the_proxy(server: list[str], tmp_path: Path) -> None:
    """It is recorded as cancelled, and the connection goes on."""
    database = tmp_path / "calls.db"
    asked = asyncio.Event()

    async def never(message: str, response_type: Any, params: Any, context: Any) -> Any:
        asked.set()
        await asyncio.Event().wait()

    async with connected([*PROXY, "--db", str(database), "--", *server], mode="legacy", elicitation_handler=never) as client:
        call = asyncio.ensure_future(client.call_tool("ask", {"question": "?"}))
        await asyncio.wait_for(asked.wait(), 60)
        call.cancel()
        await asyncio.wait((call,))
        assert (await client.call_tool("add", {"a": 1, "b": 2})).data == 3
        await until(lambda: len(rows(database)) == 2)
    assert rows(database, "tool, outcome, error_type")[0] == ("ask", "error", "CancelledError")


async def test_surroundings_are_passed_on_and_there_is_one_child(server: list[str], tmp_path: Path) -> None:
    """The whole environment and the working directory; every request goes to the same process."""
    async with connected([*PROXY, "--db", str(tmp_path / "calls.db"), "--", *server], mode="legacy") as client:
        first = (await client.call_tool("surroundings")).data
        await client.ping()
        second = (await client.call_tool("surroundings")).data
    assert first["variable"] == "passed on"
    assert first["cwd"] == str(Path.cwd())
    assert first == second
    wait_until(lambda: not Path(f"/proc/{first['pid']}").exists())
