"""The servers that other tests build on answer real clients, on every supported FastMCP."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from fastmcp import Client, FastMCP

from support.servers import http_server, server_process, stdio_client, wait_for_port

SCRIPT = """
import os, sys
from fastmcp import FastMCP

app = FastMCP("sample")

@app.tool
def greeting() -> str:
    return os.environ.get("GREETING", "none")

if len(sys.argv) > 1:
    app.run("http", port=int(sys.argv[1]), show_banner=False)
else:
    app.run(show_banner=False)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A server with one tool, which tells what it found in its environment."""
    path = tmp_path / "server.py"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


@pytest.mark.parametrize("stateless", [False, True])
async def test_an_app_is_served_over_http_with_and_without_sessions(*, stateless: bool) -> None:
    """A client gets the tool's answer at the URL that the helper gives."""
    app: FastMCP[None] = FastMCP("sample")

    @app.tool
    def double(n: int) -> int:
        return 2 * n

    async with http_server(app, stateless=stateless) as url, Client(url) as client:
        assert (await client.call_tool("double", {"n": 21})).data == 42


async def test_a_script_is_served_over_stdio_with_the_environment_given(script: Path) -> None:
    """FastMCP's transport alone would pass almost nothing on."""
    async with stdio_client(script, env={"GREETING": "hello"}) as client:
        assert (await client.call_tool("greeting", {})).data == "hello"


async def test_a_process_serves_http_until_it_is_told_to_end(script: Path, free_port: int) -> None:
    """The port answers, and SIGTERM ends the process."""
    with server_process(script, str(free_port), env={"GREETING": "hello"}) as process:
        wait_for_port(free_port, process)
        async with Client(f"http://127.0.0.1:{free_port}/mcp") as client:
            assert (await client.call_tool("greeting", {})).data == "hello"
        process.send_signal(signal.SIGTERM)

        assert process.wait(20) is not None
