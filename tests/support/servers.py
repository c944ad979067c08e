"""Real servers for real clients: over stdio as a process, over HTTP in this process or as one of its own."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport

from .waiting import DEADLINE_S, until, wait_until


class _QuietServer(uvicorn.Server):
    """Leaves the test process's signal handlers alone."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def http_server(app: FastMCP[Any], *, stateless: bool = False, **http_app_options: Any) -> AsyncIterator[str]:
    """Serve `app` over HTTP on this event loop; gives its URL. The app's lifespan runs around it."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        asgi = app.http_app(stateless_http=stateless, **http_app_options)
        server = _QuietServer(uvicorn.Config(asgi, log_level="error", lifespan="on", timeout_graceful_shutdown=2))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await until(lambda: server.started or serving.done())
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            await serving


def stdio_client(script: Path | str, *args: str, env: Mapping[str, str] | None = None, **client_options: Any) -> Client[StdioTransport]:
    """A client of a server script that runs as a process of its own for as long as the client is connected.

    The script gets this process's environment and `env` on top; FastMCP's own transport would pass almost nothing.
    """
    transport = StdioTransport(
        sys.executable,
        [str(script), *args],
        env={**os.environ, **(env or {})},
        keep_alive=False,
    )
    return Client(transport, **client_options)


@contextmanager
def server_process(
    script: Path | str,
    *args: str,
    env: Mapping[str, str] | None = None,
    **popen_options: Any,
) -> Iterator[subprocess.Popen[bytes]]:
    """A script as a process, for tests that talk to it by hand, signal it or kill it. It is dead afterwards."""
    options: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **popen_options}
    process = subprocess.Popen([sys.executable, str(script), *args], env={**os.environ, **(env or {})}, **options)
    try:
        yield process
    finally:
        process.kill()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
        process.wait(DEADLINE_S)


def wait_for_port(port: int, process: subprocess.Popen[bytes], timeout_s: float = DEADLINE_S) -> None:
    """Block until the process accepts connections on 127.0.0.1.

    Raises:
        AssertionError: it ended, or did not listen within `timeout_s` seconds.
    """

    def listens() -> bool:
        assert process.poll() is None, f"the server ended with {process.returncode}"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait_until(listens, timeout_s)
