"""Servers to stand the proxy in front of, and the proxy as a process."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

PROXY = [sys.executable, "-m", "fastmcp_feedback.cli", "proxy"]

# A server that uses all of the protocol.
SERVER = """
import os, sys
import mcp_types as types
from collections import Counter
from fastmcp import Context, FastMCP
from fastmcp.tools.base import ToolResult

app = FastMCP("inner", instructions="Ask for add.", version="7.1")
calls = Counter()

@app.tool
def add(a: int, b: int) -> int:
    return a + b

@app.tool
def count() -> int:
    calls["count"] += 1
    return calls["count"]

@app.tool
def surroundings() -> dict:
    return {"cwd": os.getcwd(), "variable": os.environ.get("DEMO_VARIABLE"), "pid": os.getpid()}

@app.tool
def boom() -> str:
    raise ValueError("bad thing")

@app.tool
def rich_error() -> ToolResult:
    return ToolResult(content="bad", structured_content={"code": 5}, is_error=True, meta={"k": 1})

@app.tool
async def slow(ctx: Context) -> str:
    for step in range(3):
        await ctx.report_progress(step, 3)
    return "done"

@app.tool
async def talk(ctx: Context) -> str:
    await ctx.info("one")
    await ctx.warning("two")
    await ctx.send_notification(types.ToolListChangedNotification())
    return "said"

@app.tool
async def ask(ctx: Context, question: str) -> str:
    answer = await ctx.elicit(question, str)
    return f"{answer.action}: {answer.data}"

@app.tool
async def sample(ctx: Context, text: str) -> str:
    message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=text))
    answer = await ctx.session.create_message(messages=[message], max_tokens=5, related_request_id=ctx.request_id)
    return answer.content.text

@app.tool
async def roots(ctx: Context) -> list[str]:
    return [str(root.uri) for root in (await ctx.session.list_roots()).roots]

@app.tool
def die() -> str:
    os._exit(7)

@app.resource("data://text")
def text() -> str:
    return "resource text"

@app.resource("data://{name}/text", meta={"k": 1}, tags={"t"})
def text_of(name: str) -> str:
    return f"text of {name}"

@app.prompt
def greet(name: str) -> str:
    return f"Hello {name}"

print("a word on stderr", file=sys.stderr, flush=True)
app.run(show_banner=False)
"""

# A server that knows only the handshake, lists half of what it has, and answers in its own way. SIGTERM ends it with 0.
OLD_SERVER = """
import json, os, signal, sys

signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
started = False

def answer(number, **what):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": number, **what}) + "\\n")
    sys.stdout.flush()

for line in sys.stdin:
    message = json.loads(line)
    number, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if number is None:
        continue
    if method == "initialize":
        started = True
        about = {"serverInfo": {"name": "old", "version": "0.1"}, "instructions": "be old"}
        answer(number, result={"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, **about})
    elif not started or method not in ("tools/list", "tools/call", "ping"):
        answer(number, error={"code": -32601, "message": "Method not found"})
    elif method == "tools/list":
        answer(number, result={"tools": [{"name": "echo_it", "inputSchema": {"type": "object"}, "_meta": {"q": 1}}]})
    elif method == "tools/call" and params["name"] == "refuse":
        answer(number, error={"code": -32050, "message": "custom", "data": {"k": 1}})
    elif method == "tools/call":
        answer(number, result={"content": [{"type": "text", "text": params["name"]}], "isError": params["name"] == "bad"})
    else:
        answer(number, result={})
"""


@asynccontextmanager
async def connected(command: Sequence[str], **options: Any) -> AsyncIterator[Client[Any]]:
    """A client of a stdio command with an environment variable of its own."""
    transport = StdioTransport(command[0], list(command[1:]), env={**os.environ, "DEMO_VARIABLE": "passed on"}, keep_alive=False)
    async with Client(transport, **options) as client:
        yield client


def proxy_process(*arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """The proxy as a bare process."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([*PROXY, *arguments], **pipes)


def end(process: subprocess.Popen[bytes]) -> str:
    """Make sure that it is gone; what it said on stderr."""
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    said = process.stderr.read().decode() if process.stderr is not None else ""
    if process.stderr is not None:
        process.stderr.close()
    process.wait(10)
    return said


def initialize(process: subprocess.Popen[bytes], tool: str = "add", arguments: str = '{"a":1,"b":2}') -> None:
    """Speak the first words of the protocol, by hand, and make a call."""
    assert process.stdin is not None
    assert process.stdout is not None
    call = f'{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}\n'
    process.stdin.write(
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
        b'"clientInfo":{"name":"by hand","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n' + call.encode()
    )
    process.stdin.flush()
    assert b'"id":1' in process.stdout.readline().replace(b" ", b"")
    assert b'"id":2' in process.stdout.readline().replace(b" ", b"")


def rows(database: Path, columns: str = "tool, outcome, error_message") -> list[tuple[Any, ...]]:
    """The recorded calls, in order."""
    if not database.exists():
        return []
    con = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        return con.execute(f"SELECT {columns} FROM ffb_tool_calls ORDER BY started_at").fetchall()
    finally:
        con.close()
