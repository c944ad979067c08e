"""The proxy on real processes: what it records, what it passes on, how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from fastmcp_feedback.proxy.guard import Guard
from support.servers import wait_for_port
from support.waiting import until, wait_until

SERVER = """
import asyncio, os, sys
from fastmcp import Context, FastMCP

app = FastMCP("inner", instructions="Ask for add.")

@app.tool
def add(a: int, b: int) -> int:
    return a + b

@app.tool
def surroundings() -> dict:
    return {"cwd": os.getcwd(), "variable": os.environ.get("DEMO_VARIABLE"), "pid": os.getpid()}

@app.tool
def boom() -> str:
    raise ValueError("bad thing")

@app.tool
async def slow(ctx: Context) -> str:
    for step in range(3):
        await ctx.report_progress(step, 3)
    return "done"

@app.tool
def die() -> str:
    os._exit(7)

@app.resource("data://text")
def text() -> str:
    return "resource text"

@app.prompt
def greet(name: str) -> str:
    return f"Hello {name}"

print("a word on stderr", file=sys.stderr, flush=True)
app.run(show_banner=False)
"""
PROXY = [sys.executable, "-m", "fastmcp_feedback.cli", "proxy"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]


@pytest.fixture
def server(tmp_path: Path) -> list[str]:
    """The command of a small server."""
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    return [sys.executable, str(script)]


@asynccontextmanager
async def connected(command: list[str], **options: Any) -> AsyncIterator[Client[Any]]:
    """A client of a stdio command with an environment variable of its own."""
    transport = StdioTransport(command[0], command[1:], env={**os.environ, "DEMO_VARIABLE": "passed on"}, keep_alive=False)
    async with Client(transport, **options) as client:
        yield client


def rows(database: Path) -> list[tuple[str, str, str | None]]:
    """Tool, outcome and message of the recorded calls, in order."""
    if not database.exists():
        return []
    con = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        return con.execute("SELECT tool, outcome, error_message FROM ffb_tool_calls ORDER BY started_at").fetchall()
    finally:
        con.close()


async def everything(client: Client[Any]) -> list[Any]:
    """What a client sees of a server: lists, answers, errors, progress, resources, prompts."""
    seen: list[Any] = [[tool.model_dump() for tool in await client.list_tools()]]
    steps: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    for tool, args in (("add", {"a": 1, "b": 2}), ("boom", {}), ("add", {"a": "x"}), ("no_such_tool", {})):
        answer = await client.call_tool(tool, args, raise_on_error=False)
        seen.append((answer.is_error, answer.structured_content, [item.model_dump() for item in answer.content]))
    await client.call_tool("slow", {}, progress_handler=on_progress)
    resource = await client.read_resource("data://text")
    prompt = await client.get_prompt("greet", {"name": "you"})
    return [*seen, steps, resource[0].text, prompt.messages[0].content.text]  # type: ignore[union-attr]  # texts, both


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_sees_the_server_itself(server: list[str], tmp_path: Path, mode: str) -> None:
    """Lists, answers, errors, progress, resources and prompts are those of the server without the proxy."""
    database = tmp_path / "calls.db"
    async with connected(server, mode=mode) as client:
        bare = await everything(client)
    async with connected([*PROXY, "--db", str(database), "--mode", "full", "--", *server], mode=mode) as client:
        assert await everything(client) == bare
    await until(lambda: len(rows(database)) == 5)
    kinds = [(tool, outcome) for tool, outcome, _ in rows(database)]
    assert kinds == [("add", "ok"), ("boom", "soft_error"), ("add", "soft_error"), ("no_such_tool", "soft_error"), ("slow", "ok")]
    assert rows(database)[1][2] == "isError: Error calling tool 'boom': bad thing"
    assert database.stat().st_mode & 0o777 == 0o600


async def test_surroundings_are_passed_on_and_there_is_one_child(server: list[str], tmp_path: Path) -> None:
    """The whole environment and the working directory; every request goes to the same process."""
    async with connected([*PROXY, "--db", str(tmp_path / "calls.db"), "--", *server]) as client:
        first = (await client.call_tool("surroundings")).data
        second = (await client.call_tool("surroundings")).data
    assert first["variable"] == "passed on"
    assert first["cwd"] == str(Path.cwd())
    assert first == second
    wait_until(lambda: not Path(f"/proc/{first['pid']}").exists())


def initialize(process: subprocess.Popen[bytes]) -> None:
    """Speak the first words of the protocol, by hand."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
        b'"clientInfo":{"name":"by hand","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
        b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}\n'
    )
    process.stdin.flush()
    assert b'"id":1' in process.stdout.readline().replace(b" ", b"")
    assert b'"id":2' in process.stdout.readline().replace(b" ", b"")


def proxy_process(server: list[str], database: Path) -> subprocess.Popen[bytes]:
    """The proxy as a bare process."""
    command = [*PROXY, "--db", str(database), "--", *server]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_a_child_that_crashes_ends_the_proxy_with_its_code_and_one_line(server: list[str], tmp_path: Path) -> None:
    """Exit code 7, one clear line, and the call during which it died is recorded."""
    database = tmp_path / "calls.db"
    process = proxy_process(server, database)
    try:
        initialize(process)
        assert process.stdin is not None
        process.stdin.write(b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"die","arguments":{}}}\n')
        process.stdin.flush()
        assert process.wait(20) == 7
        assert process.stderr is not None
        err = process.stderr.read().decode()
    finally:
        process.kill()
        process.communicate()
    assert "a word on stderr" in err
    assert f"fastmcp-feedback proxy: {sys.executable} ended with exit code 7" in err
    assert [(tool, outcome) for tool, outcome, _ in rows(database)] == [("add", "ok"), ("die", "error")]


def test_a_signal_goes_to_the_child_and_the_proxy_ends_alike(server: list[str], tmp_path: Path) -> None:
    """SIGTERM ends the server by SIGTERM, and so the proxy."""
    process = proxy_process(server, tmp_path / "calls.db")
    try:
        initialize(process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == -signal.SIGTERM
    finally:
        process.kill()
        process.communicate()
    assert [tool for tool, _, _ in rows(tmp_path / "calls.db")] == ["add"]


def test_a_closed_stdin_ends_the_child_and_the_proxy_with_code_0(server: list[str], tmp_path: Path) -> None:
    """The ordinary end of a stdio server."""
    process = proxy_process(server, tmp_path / "calls.db")
    try:
        initialize(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 0
    finally:
        process.kill()
        if process.stdout is not None and process.stderr is not None:
            process.stdout.close()
            process.stderr.close()
    assert [tool for tool, _, _ in rows(tmp_path / "calls.db")] == ["add"]


def test_a_database_that_cannot_be_written_is_one_line(server: list[str], tmp_path: Path) -> None:
    """Exit code 1 and what to do, before anything is started."""
    blocked = tmp_path / "file"
    blocked.touch()
    command = [*PROXY, "--db", str(blocked / "calls.db"), "--", *server]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    assert "the database cannot be used" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


async def test_over_http_each_session_has_a_child_and_strangers_are_refused(server: list[str], tmp_path: Path, free_port: int) -> None:
    """Two sessions, two processes; a strange Host or Origin is refused."""
    command = [*PROXY, "--db", str(tmp_path / "calls.db"), "--http", f"127.0.0.1:{free_port}", "--", *server]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # noqa: ASYNC220 - it only starts
    url = f"http://127.0.0.1:{free_port}/mcp"
    try:
        await asyncio.to_thread(wait_for_port, free_port, process)
        async with Client(url, mode="legacy") as one, Client(url, mode="legacy") as two:
            first = (await one.call_tool("surroundings")).data["pid"]
            second = (await two.call_tool("surroundings")).data["pid"]
            again = (await one.call_tool("surroundings")).data["pid"]
        assert first == again
        assert first != second
        async with httpx2.AsyncClient() as http:
            assert (await http.post(url, headers={"host": "evil.example"})).status_code == 403
            assert (await http.post(url, headers={"origin": "http://evil.example"})).status_code == 403
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.wait, 20)
    finally:
        process.kill()
        process.communicate()
    assert len(rows(tmp_path / "calls.db")) == 3


@pytest.mark.parametrize(
    ("host", "token", "headers", "status"),
    [
        ("127.0.0.1", None, {"host": "127.0.0.1:8000"}, 200),
        ("127.0.0.1", None, {"host": "localhost:8000", "origin": "http://localhost:3000"}, 200),
        ("127.0.0.1", None, {"host": "attacker.example"}, 403),
        ("127.0.0.1", None, {}, 403),
        ("127.0.0.1", None, {"host": "localhost", "origin": "null"}, 403),
        ("127.0.0.1", "s3", {"host": "localhost"}, 401),
        ("127.0.0.1", "s3", {"host": "localhost", "authorization": "Bearer s3"}, 200),
        ("0.0.0.0", "s3", {"host": "studio.example", "authorization": "Bearer s4"}, 401),
        ("0.0.0.0", "s3", {"host": "studio.example", "authorization": "Bearer s3"}, 200),
    ],
)
async def test_the_guard_checks_host_origin_and_token(host: str, token: str | None, headers: dict[str, str], status: int) -> None:
    """Everything else is answered by the guard, not by the server behind it."""

    async def behind(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    answers: list[int] = []

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            answers.append(message["status"])

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await Guard(behind, host=host, token=token)({"type": "http", "headers": raw}, None, send)
    assert answers == [status]
