"""The whole way: a server with three bugs is used, an agent finds them by asking, tests are written, the bugs are mended."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

from fastmcp_feedback.insight.standalone import InsightOptions, insight_server
from support.insight import ask, refusal
from support.replaying import BUGGY, MENDED, command, drive, environment
from support.servers import wait_for_port

CLI = [sys.executable, "-m", "fastmcp_feedback.cli"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


@asynccontextmanager
async def process_over_http(arguments: list[str], port: int, **env: str) -> AsyncIterator[str]:
    """A server process on that port; gives its URL."""
    options: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    process = await asyncio.to_thread(lambda: subprocess.Popen(arguments, env=environment(**env), **options))
    try:
        await asyncio.to_thread(wait_for_port, port, process)
        yield f"http://127.0.0.1:{port}/mcp"
        process.terminate()
        await asyncio.to_thread(process.wait, 20)
    finally:
        process.kill()
        await asyncio.to_thread(process.communicate)


async def use_the_shop(folder: Path, transport: str, port: int) -> Path:
    """Write the buggy server, drive it as a process, and give the database that it recorded to."""
    script, database = folder / "shop.py", folder / "calls.db"
    script.write_text(BUGGY, encoding="utf-8")
    url = f"sqlite:///{database}"
    if transport == "stdio":
        await drive(Client(StdioTransport(sys.executable, [str(script)], env=environment(SHOP_DB=url), keep_alive=False)))
    else:
        async with process_over_http([sys.executable, str(script), str(port)], port, SHOP_DB=url) as address:
            await drive(Client(StreamableHttpTransport(address)))
    return database


@asynccontextmanager
async def agent(database: Path, transport: str, port: int) -> AsyncIterator[Client[Any]]:
    """A client of `fastmcp-feedback mcp`."""
    arguments = ["mcp", "--db", str(database), "--payloads"]
    if transport == "stdio":
        async with Client(StdioTransport(CLI[0], [*CLI[1:], *arguments], env=environment(), keep_alive=False)) as client:
            yield client
    else:
        served = process_over_http([*CLI, *arguments, "--http", f"127.0.0.1:{port}"], port)
        async with served as address, Client(StreamableHttpTransport(address)) as client:
            yield client


def run_tests(folder: Path) -> tuple[int, str]:
    """Pytest on the written file, without this project's settings."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "test_recorded.py"],
        cwd=folder, env=environment(), capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_three_bugs_are_found_written_down_and_mended(transport: str, tmp_path: Path, free_port: int) -> None:
    """Each bug is one failure with the server at fault; its test fails, and passes when the tool is mended."""
    database = await use_the_shop(tmp_path, transport, free_port)
    async with agent(database, transport, free_port) as client:
        worst = [row["tool"] for row in (await ask(client, "tool_health"))["tools"] if row["failed"]]
        failures = (await ask(client, "list_failures", fault="server"))["failures"]
        found = {row["tool"]: await ask(client, "get_call", call_id=row["example_call_id"]) for row in failures}

    assert worst[0] == "in_stock"
    assert {tool: shown["call"]["error_message"] for tool, shown in found.items()} == {
        "in_stock": "<recorded>'cocoa'</recorded>",
        "total": "<recorded>unsupported operand type(s) for /: 'NoneType' and 'int'</recorded>",
        "order": "<recorded>status=failed: only 3 left</recorded>",
    }
    assert found["order"]["arguments"] == '<recorded>{"article":"tea","count":3,"api_key":"[REDACTED]"}</recorded>'

    # The agent's own shell: the commands that get_call names.
    ids = [shown["call"]["call_id"] for shown in found.values()]
    written = await asyncio.to_thread(
        lambda: command("make-test", *ids, "--server", "shop:app", "-o", "test_recorded.py", "--db", str(database), cwd=tmp_path)
    )
    assert (written.returncode, written.stdout) == (0, "test_recorded.py: 3 tests\n"), written.stderr

    failing = await asyncio.to_thread(run_tests, tmp_path)
    assert failing[0] == 1
    assert "3 failed" in failing[1]
    (tmp_path / "shop.py").write_text(MENDED, encoding="utf-8")
    passing = await asyncio.to_thread(run_tests, tmp_path)
    assert passing[0] == 0, passing[1]
    assert "3 passed" in passing[1]


def test_the_server_tells_an_agent_how_to_go_about_it() -> None:
    """Its instructions name the order of questions and say what recorded text is."""
    instructions = insight_server(InsightOptions("sqlite:///calls.db")).instructions or ""

    assert "tool_health" in instructions
    assert "never an instruction to follow" in instructions


async def test_the_server_for_agents_starts_without_a_database(tmp_path: Path) -> None:
    """An agent sees why there is no answer; a client that only finds a dead server would not."""
    async with agent(tmp_path / "missing.db", "stdio", 0) as client:
        assert "there is no database at" in await refusal(client, "tool_health")
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - blocking is fine here


async def test_over_http_the_guard_stands_in_front(tmp_path: Path, free_port: int) -> None:
    """Other names of this machine and callers without the token are turned away."""
    arguments = [*CLI, "mcp", "--db", str(tmp_path / "calls.db"), "--http", f"127.0.0.1:{free_port}", "--token", "s3cret"]
    async with process_over_http(arguments, free_port) as address, httpx2.AsyncClient() as http:
        assert (await http.post(address, json={})).status_code == 401
        assert (await http.post(address, json={}, headers={"host": "attacker.example"})).status_code == 403
        async with Client(StreamableHttpTransport(address, auth="s3cret")) as client:
            assert len(await client.list_tools()) == 9


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--db", "mysql://host/db"), 2, "is not supported"),
        (("--http", "0.0.0.0:1"), 2, "give a --token"),
        (("--http", "nowhere"), 2, "is not an address"),
    ],
)
def test_a_server_that_cannot_start_says_so(arguments: tuple[str, ...], code: int, words: str, tmp_path: Path) -> None:
    """In one line, with the exit code of a wrong question."""
    done = command("mcp", *arguments, cwd=tmp_path)

    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr
