"""A server to end in every way: `ending_server.py SINK TARGET WAY [PORT]`.

SINK is `database`, `lines`, `callback` (a file written on the server's loop), `stderr` (the default sink) or `none` (not instrumented).
WAY is `stdio`, `http` (app.run), `uvicorn`, `script` (calls without a client, then the interpreter ends) or `fork`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from fastmcp import FastMCP

from fastmcp_feedback.instrumentation import CallbackSink, DatabaseSink, JsonLinesSink, instrument
from support.capturing import call_directly

SCRIPT_CALLS = 20


def sinks_for(kind: str, target: str) -> list[Any] | None:
    """The sink under test."""
    if kind == "stderr":
        return None
    if kind == "database":
        return [DatabaseSink(f"sqlite:///{target}")]
    if kind == "lines":
        return [JsonLinesSink(path=target)]
    lines = JsonLinesSink(path=target)
    return [CallbackSink(lines.write)]


def build(kind: str, target: str) -> FastMCP[Any]:
    """The server, instrumented unless told otherwise."""
    app: FastMCP[Any] = FastMCP("ending")

    @app.tool
    async def ping(n: int) -> dict[str, int]:
        return {"n": n}

    @app.tool
    async def sleeps(marker: str) -> str:
        Path(marker).touch()  # noqa: ASYNC240 - tells the test that it began
        await asyncio.sleep(600)
        return "awake"

    @app.tool
    async def fails(n: int) -> str:
        raise ValueError(f"no {n}")

    @app.tool
    async def forks() -> int:
        child = os.fork()
        if child == 0:
            signal.pause()
            os._exit(0)
        os.kill(child, signal.SIGTERM)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])  # noqa: ASYNC222 - it ends at once

    if kind != "none":
        instrument(app, sinks_for(kind, target))
    return app


async def call_many(app: FastMCP[Any], first: int, count: int) -> None:
    """Calls of the host's own code."""
    for n in range(first, first + count):
        await call_directly(app, "ping", {"n": n})


def fork_between(app: FastMCP[Any]) -> None:
    """The parent's calls wait for delivery when it forks; parent and child then make calls of their own."""
    asyncio.run(call_many(app, 0, SCRIPT_CALLS))
    child = os.fork()
    asyncio.run(call_many(app, 100 if child else 200, SCRIPT_CALLS))
    if child:
        os.waitpid(child, 0)


def main(kind: str, target: str, way: str, port: str = "0") -> None:
    """Serve, or call, until it ends."""
    app = build(kind, target)
    Path(f"{target}.pid").write_text(str(os.getpid()), encoding="ascii")
    if way == "script":
        asyncio.run(call_many(app, 0, SCRIPT_CALLS))
    elif way == "fork":
        fork_between(app)
    elif way == "uvicorn":
        import uvicorn

        uvicorn.run(app.http_app(), host="127.0.0.1", port=int(port), log_level="error")
    elif way == "http":
        app.run(transport="http", host="127.0.0.1", port=int(port), show_banner=False, log_level="error")
    else:
        app.run(show_banner=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
