"""The dashboard over many rows: each page beside the question that it answers, then many readers while calls are recorded.

    python bench/dashboard.py [--rows 1000000] [--readers 50] [--rate 500] [--seconds 20] [--database calls.db]

A page is asked for over the newest day, as its readers do. "Question" is the function of `query/` that the page is about; for
the page of one tool, which has six panels, those of the panels one after the other. A page also asks for what stands beside
that (small charts, the window before, reports) and is made into HTML. Times are the least of five runs, warm. A database
that is named is used as it is; otherwise one is made.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from fastmcp import FastMCP
from generate import fill

from fastmcp_feedback.instrumentation import DatabaseSink, instrument
from fastmcp_feedback.query.calls import find_call, list_calls
from fastmcp_feedback.query.failures import find_failure, list_failures
from fastmcp_feedback.query.filters import Filter
from fastmcp_feedback.query.flailing import find_flailing
from fastmcp_feedback.query.health import tool_health
from fastmcp_feedback.query.holdings import holdings
from fastmcp_feedback.query.latency import duration_histogram, over_time
from fastmcp_feedback.query.outcomes import outcomes_over_time
from fastmcp_feedback.query.reader import Reader, open_reader
from fastmcp_feedback.query.sequences import transitions
from fastmcp_feedback.query.story import list_conversations, tell_story
from fastmcp_feedback.store.feedback_sql import Which
from fastmcp_feedback.store.feedback_store import FeedbackStore
from fastmcp_feedback.web.app import Dashboard
from fastmcp_feedback.web.gates import OpenGate
from fastmcp_feedback.web.source import Source

HOST = "127.0.0.1:8377"
ROUNDS = 5
ENOUGH_MS = 50.0  # a page this quick is quick, however short its question


@dataclass
class Case:
    """A page, its address, and the question that it is about."""

    name: str
    address: str
    question: Callable[[], Awaitable[Any]]


async def cases(reader: Reader) -> list[Case]:
    """All pages over the newest day."""
    (newest,) = (await list_calls(reader, Filter(outcome="failed"), limit=1)).calls
    end = newest["started_at"] + timedelta(seconds=1)
    day = Filter(since=end - timedelta(days=1), until=end)
    failure = (await list_failures(reader, day, limit=1))[0]
    tool = Filter(since=day.since, until=end, tool=failure.tool)
    key, call_id, print_ = newest["conversation_key"], newest["id"], failure.fingerprint or ""
    since = "&".join(f"{name}={quote(value)}" for name, value in day.texts().items())
    store = FeedbackStore(reader.sink)
    return [
        Case("overview", f"/?{since}", lambda: tool_health(reader, day)),
        Case("tool", f"/tool?tool={failure.tool}&{since}", lambda: panels(reader, tool)),
        Case("calls", f"/calls?{since}", lambda: list_calls(reader, day, limit=50)),
        Case("call", f"/calls/{call_id}", lambda: find_call(reader, call_id)),
        Case("failures", f"/failures?{since}", lambda: list_failures(reader, day, limit=101)),
        Case("failure", f"/failure?fingerprint={print_}&{since}", lambda: find_failure(reader, print_, day)),
        Case("conversations", f"/conversations?{since}", lambda: list_conversations(reader, day, limit=101)),
        Case("conversation", f"/conversation?conversation={quote(key)}", lambda: tell_story(reader, key, limit=500)),
        Case("feedback", "/feedback", lambda: store.page(Which(), 51)),
        Case("flailing", f"/flailing?{since}", lambda: find_flailing(reader, day, limit=50)),
        Case("privacy", "/privacy", lambda: holdings(reader)),
    ]


async def panels(reader: Reader, tool: Filter) -> None:
    """What the page of one tool shows, each asked once."""
    await tool_health(reader, tool)
    await over_time(reader, tool)
    await outcomes_over_time(reader, tool)
    await duration_histogram(reader, tool)
    await list_failures(reader, tool)
    await transitions(reader, tool)


async def page(app: Any, address: str) -> int:
    """One page in this process; its status."""
    path, _, query = address.partition("?")
    scope = {
        "type": "http", "method": "GET", "scheme": "http", "path": path, "query_string": query.encode(), "root_path": "",
        "headers": [(b"host", HOST.encode()), (b"accept", b"text/html")], "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 1),
        "state": {},
    }  # fmt: skip
    found: list[int] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        found.extend([message["status"]] if "status" in message else [])

    await app(scope, receive, send)
    return found[0]


async def least_ms(work: Callable[[], Awaitable[Any]]) -> float:
    """The least of a few runs after one to warm up."""
    times = []
    for number in range(ROUNDS + 1):
        began = time.perf_counter()
        await work()
        times += [(time.perf_counter() - began) * 1000] if number else []
    return min(times)


async def pages(url: str) -> dict[str, dict[str, float]]:
    """Each page beside its question, measured in turn."""
    source = Source(url)
    app = Dashboard(source, OpenGate(payloads=True))
    found: dict[str, dict[str, float]] = {}
    async with open_reader(url) as reader:
        for case in await cases(reader):
            status = await page(app, case.address)
            assert status == 200, (case.address, status)
            question_ms = await least_ms(case.question)
            page_ms = await least_ms(lambda address=case.address: page(app, address))  # type: ignore[misc]
            found[case.name] = {"question_ms": question_ms, "page_ms": page_ms, "ratio": page_ms / question_ms}
    await source.aclose()
    return found


# -- readers and a recorder at the same time


@dataclass
class Read:
    """What the readers met."""

    times_ms: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


async def read_on(origin: str, addresses: list[str], first: int, until: float, found: Read) -> None:
    """One reader: page after page over real HTTP."""
    at = urlsplit(origin)
    turn = cycle(addresses[first % len(addresses) :] + addresses[: first % len(addresses)])
    while time.monotonic() < until:
        address = next(turn)
        began = time.perf_counter()
        try:
            async with asyncio.timeout(60):
                reader, writer = await asyncio.open_connection(at.hostname, at.port)
                writer.write(f"GET {address} HTTP/1.1\r\nHost: {at.netloc}\r\nAccept: text/html\r\nConnection: close\r\n\r\n".encode())
                answer = await reader.read()
                writer.close()
                await writer.wait_closed()
        except (OSError, TimeoutError) as exc:
            found.failed.append(f"{address}: {type(exc).__name__}: {exc}")
            continue
        found.times_ms.append((time.perf_counter() - began) * 1000)
        if not answer.startswith(b"HTTP/1.1 200 ") or not answer.rstrip().endswith(b"</html>"):
            found.failed.append(f"{address}: {answer[:80]!r}")


async def read_all(origin: str, addresses: list[str], readers: int, seconds: float) -> Read:
    """All readers at once."""
    found = Read()
    until = time.monotonic() + seconds
    await asyncio.gather(*(read_on(origin, addresses, number, until, found) for number in range(readers)))
    return found


async def record(url: str, rate: int, seconds: float) -> dict[str, Any]:
    """A server whose tool is called at a steady rate, beside the dashboard's readers; its books."""
    app: FastMCP[Any] = FastMCP("bench")
    recorder = instrument(app, [DatabaseSink(url)], mode="full")

    @app.tool
    def paint(colour: str) -> str:
        return colour

    began = time.perf_counter()
    called = 0
    while (gone := time.perf_counter() - began) < seconds:
        for number in range(called, int(gone * rate)):
            await app.call_tool("paint", {"colour": f"shade {number}"})
            called = number + 1
        await asyncio.sleep(0.002)
    took = time.perf_counter() - began
    await recorder.flush(60)
    (books,) = recorder.stats()["sinks"].values()
    await recorder.aclose()
    return {"called": called, "calls a second": called / took, "written": books["written"], "lost": books["lost"]}


def rows(url: str) -> int:
    con = sqlite3.connect(url.removeprefix("sqlite:///"))
    (count,) = con.execute("SELECT COUNT(*) FROM ffb_tool_calls").fetchone()
    con.close()
    return int(count)


async def load(url: str, readers: int, rate: int, seconds: float) -> dict[str, Any]:
    """The dashboard, its readers and a recorder in four processes on one database."""
    async with open_reader(url) as reader:
        addresses = [case.address for case in await cases(reader)]
    before = rows(url)
    command = [sys.executable, "-m", "fastmcp_feedback", "serve", "--db", url, "--port", "0"]
    server = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert server.stdout is not None
    try:
        origin = (await server.stdout.readline()).decode().split()[1]
        parts = ("--readers", str(readers), "--rate", str(rate), "--seconds", str(seconds))
        reading, recording = await asyncio.gather(
            _role("read", *parts, stdin=json.dumps([origin, addresses])), _role("record", "--database", url, *parts)
        )
    finally:
        server.terminate()
        await server.wait()
    return {**reading, **recording, "rows added": rows(url) - before}


async def _role(name: str, *arguments: str, stdin: str = "") -> dict[str, Any]:
    """A part of the load in a process of its own."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, __file__, "--role", name, *arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    out, _ = await process.communicate(stdin.encode())
    found: dict[str, Any] = json.loads(out)
    return found


def summed(found: Read) -> dict[str, Any]:
    """The readers' times and failures."""
    cut = statistics.quantiles(found.times_ms, n=20) if len(found.times_ms) > 1 else [0.0] * 19
    return {
        "pages": len(found.times_ms), "failed": len(found.failed), "first failures": found.failed[:3], "p50_ms": cut[9], "p95_ms": cut[18],
        "max_ms": max(found.times_ms, default=0.0),
    }  # fmt: skip


def show(url: str, given: argparse.Namespace) -> bool:
    """Measure and print; was all well?"""
    found = asyncio.run(pages(url))
    print(f"{rows(url):,} rows\n{'page':16s} {'question':>12s} {'page':>12s} {'ratio':>8s}")
    for name, row in found.items():
        print(f"{name:16s} {row['question_ms']:9.1f} ms {row['page_ms']:9.1f} ms {row['ratio']:8.2f}")
    slow = [name for name, row in found.items() if row["ratio"] > 3 and row["page_ms"] > ENOUGH_MS]
    print(f"over 3 times its question and over {ENOUGH_MS:.0f} ms: {', '.join(slow) or 'none'}\n")
    if given.seconds <= 0:
        return not slow
    result = asyncio.run(load(url, given.readers, given.rate, given.seconds))
    print(f"{given.readers} readers for {given.seconds:.0f} s while {given.rate} calls a second are recorded:")
    for name, value in result.items():
        print(f"  {name:16s} {value:.1f}" if isinstance(value, float) else f"  {name:16s} {value}")
    complete = result["called"] == result["written"] == result["rows added"] and not result["lost"]
    print("recording is complete" if complete else "RECORDS ARE MISSING")
    return complete and not result["failed"]


def main() -> None:
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("--database", help="file or URL of SQLite")
    cli.add_argument("--rows", type=int, default=1_000_000)
    cli.add_argument("--readers", type=int, default=50)
    cli.add_argument("--rate", type=int, default=500)
    cli.add_argument("--seconds", type=float, default=20.0)
    cli.add_argument("--role", choices=("read", "record"), help=argparse.SUPPRESS)
    given = cli.parse_args()
    url = given.database if given.database is None or "://" in given.database else f"sqlite:///{Path(given.database).absolute()}"
    if given.role == "read":
        origin, addresses = json.loads(sys.stdin.read())
        print(json.dumps(summed(asyncio.run(read_all(origin, addresses, given.readers, given.seconds)))))
    elif given.role == "record":
        print(json.dumps(asyncio.run(record(url, given.rate, given.seconds))))
    elif url is not None:
        raise SystemExit(not show(url, given))
    else:
        with tempfile.TemporaryDirectory() as folder:
            made = f"sqlite:///{folder}/calls.db"
            asyncio.run(fill(made, given.rows, seed=7, mode="full"))
            raise SystemExit(not show(made, given))


if __name__ == "__main__":
    main()
