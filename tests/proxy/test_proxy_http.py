"""The proxy over HTTP, on its front and on its back."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastmcp import Client, Context, FastMCP
from mcp.shared.exceptions import MCPError

from fastmcp_feedback.proxy.guard import Guard
from support.proxied import PROXY, end, proxy_process, rows
from support.servers import http_server, wait_for_port
from support.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


async def test_each_session_has_a_child_and_a_crash_ends_nothing_else(server: list[str], tmp_path: Path, free_port: int) -> None:
    """Two sessions, two processes; a new one after a crash; strangers are refused; SIGTERM is an ordinary end."""
    process = proxy_process("--db", str(tmp_path / "calls.db"), "--http", f"127.0.0.1:{free_port}", "--", *server)
    url = f"http://127.0.0.1:{free_port}/mcp"
    try:
        await asyncio.to_thread(wait_for_port, free_port, process)
        async with Client(url, mode="legacy") as one, Client(url, mode="legacy") as two:
            first = (await one.call_tool("surroundings")).data["pid"]
            second = (await two.call_tool("surroundings")).data["pid"]
            again = (await one.call_tool("surroundings")).data["pid"]
            with pytest.raises(MCPError):
                await one.call_tool("die")
            anew = (await one.call_tool("surroundings")).data["pid"]
            assert (await two.call_tool("surroundings")).data["pid"] == second
        assert first == again
        assert len({first, second, anew}) == 3
        await until(lambda: not Path(f"/proc/{second}").exists())  # a session that ends takes its child along
        async with Client(url) as modern:
            shared = (await modern.call_tool("surroundings")).data["pid"]
            with pytest.raises(MCPError):
                await modern.call_tool("die")
            assert (await modern.call_tool("surroundings")).data["pid"] != shared
        async with httpx2.AsyncClient() as http:
            assert (await http.post(url, headers={"host": "evil.example"})).status_code == 403
            assert (await http.post(url, headers={"origin": "http://evil.example"})).status_code == 403
        process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(process.wait, 20) == 0
    finally:
        err = end(process)
    assert err.count(f"fastmcp-feedback proxy: {sys.executable} ended with exit code 7") == 2
    assert len(rows(tmp_path / "calls.db")) == 9


async def test_a_remote_server_keeps_its_session(tmp_path: Path, free_port: int) -> None:
    """One session there for one here; headers are sent; what the server asks reaches the client."""
    app: FastMCP[Any] = FastMCP("remote", version="3")

    @app.tool
    def who(context: Context) -> str:
        assert context.request_context is not None
        request: Any = context.request_context.request
        return f"{context.session_id} {request.headers.get('x-key')} {request.headers.get('authorization')}"

    @app.tool
    async def ask(context: Context) -> str:
        answer = await context.elicit("well?", str)
        return str(answer.action)

    async def yes(message: str, response_type: Any, params: Any, context: Any) -> Any:
        return {"value": "yes"}

    async with http_server(app) as remote:
        options = ["--db", str(tmp_path / "calls.db"), "--url", remote, "--header", "X-Key: k1", "--token", "t1"]
        process = proxy_process(*options, "--http", f"127.0.0.1:{free_port}", stdin=subprocess.DEVNULL)
        url = f"http://127.0.0.1:{free_port}/mcp"
        try:
            await asyncio.to_thread(wait_for_port, free_port, process)
            async with Client(url, mode="legacy", auth="t1", elicitation_handler=yes) as one:
                seen = [(await one.call_tool("who")).data for _ in range(3)]
                assert (await one.call_tool("ask")).data == "accept"
            async with Client(url, mode="legacy", auth="t1") as two:
                other = (await two.call_tool("who")).data
        finally:
            await asyncio.to_thread(end, process)
    assert len(set(seen)) == 1
    assert seen[0] != other
    assert seen[0].split()[1:] == ["k1", "None"]  # our own token stays here


def test_an_address_in_use_is_one_line(tmp_path: Path) -> None:
    """Exit code 1, no traceback."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        command = [*PROXY, "--db", str(tmp_path / "calls.db"), "--http", f"127.0.0.1:{taken.getsockname()[1]}", "--", "true"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == 1
    assert "cannot listen on 127.0.0.1:" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("host", "token", "headers", "status"),
    [
        ("127.0.0.1", None, {"host": "127.0.0.1:8000"}, 200),
        ("127.0.0.1", None, {"host": "localhost:8000", "origin": "http://localhost:3000"}, 200),
        ("127.0.0.1", None, {"host": "attacker.example"}, 403),
        ("127.0.0.1", None, {"host": "["}, 403),
        ("127.0.0.1", None, {}, 403),
        ("127.0.0.1", None, {"host": "localhost", "origin": "null"}, 403),
        ("::1", None, {"host": "[::1]:8000"}, 200),
        ("127.0.0.1", "s3", {"host": "localhost"}, 401),
        ("127.0.0.1", "s3", {"host": "localhost", "authorization": "Bearer s3"}, 200),
        ("0.0.0.0", "s3", {"host": "studio.example", "authorization": "Bearer s4"}, 401),
        ("0.0.0.0", "s3", {"host": "studio.example", "authorization": "Bearer s3"}, 200),
    ],
)
async def test_the_guard_checks_host_origin_and_token(host: str, token: str | None, headers: dict[str, str], status: int) -> None:
    """Everything else is answered by the guard, not by the server behind it, which never sees the token."""
    passed: list[list[tuple[bytes, bytes]]] = []

    async def behind(scope: Any, _receive: Any, send: Any) -> None:
        passed.append(scope["headers"])
        await send({"type": "http.response.start", "status": 200, "headers": []})

    answers: list[int] = []

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            answers.append(message["status"])

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await Guard(behind, host=host, token=token)({"type": "http", "headers": raw}, None, send)
    assert answers == [status]
    assert len(passed) == (status == 200)
    assert b"authorization" not in dict(passed[0] if passed else [])
