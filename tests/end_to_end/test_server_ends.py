"""Every way in which a server really ends: calls that were answered are stored, and the exit status is the server's own."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
from fastmcp import Client

from support.endings import ByHand, Ending, wait_for_end
from support.versions import IS_V4
from support.waiting import DEADLINE_S, until, wait_until

CALLS: Final = 50
# The HTTP client below FastMCP 4 needs a minute for five hundred connections.
CONCURRENT: Final = 500 if IS_V4 else 100
PIPES: Final[dict[str, Any]] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}

pytestmark = pytest.mark.slow


@pytest.fixture(params=["database", "lines"])
def ending(request: pytest.FixtureRequest, tmp_path: Path) -> Ending:
    """A server with a database, or with a file of JSON lines."""
    return Ending(tmp_path, request.param)


@pytest.fixture
def with_callback(tmp_path: Path) -> Ending:
    """A server whose sink runs on the server's own loop."""
    return Ending(tmp_path, "callback")


async def ping(client: Client[Any], count: int) -> None:
    """So many calls at once."""
    await asyncio.gather(*(client.call_tool("ping", {"n": n}) for n in range(count)))


async def test_a_client_that_closes_the_pipe_loses_no_call(ending: Ending) -> None:
    """The server sees the end of its stdin, delivers and ends."""
    async with Client(ending.transport()) as client:
        await ping(client, CALLS)
    await asyncio.to_thread(wait_for_end, ending)
    assert ending.stored() == CALLS


def test_sigterm_ends_an_idle_stdio_server_as_without_us(ending: Ending) -> None:
    """Everything is stored at once, and the status is that of a process killed by SIGTERM."""
    with ending.process("stdio", **PIPES) as process:
        by_hand = ByHand(process)
        by_hand.call("ping", 1, CALLS)
        by_hand.read(CALLS)
        status, _ = by_hand.end(signal.SIGTERM)
    assert status == -signal.SIGTERM
    assert ending.stored() == CALLS


def test_sigterm_in_the_midst_of_a_burst_loses_no_answered_call(ending: Ending) -> None:
    """What ran at that moment is recorded as interrupted; what was answered is recorded as such."""
    with ending.process("stdio", **PIPES) as process:
        by_hand = ByHand(process)
        by_hand.call("ping", 1, 500)
        by_hand.read(20)
        status, more = by_hand.end(signal.SIGTERM)
    assert status == -signal.SIGTERM
    rows = ending.rows()
    assert len({row["id"] for row in rows}) == len(rows)
    fine = sum(row["outcome"] == "ok" for row in rows)
    assert 20 + more <= fine <= 500
    assert {(row["outcome"], row["error_type"]) for row in rows} <= {("ok", None), ("error", "Interrupted")}


def test_a_call_that_runs_at_sigterm_is_recorded_as_interrupted(ending: Ending, tmp_path: Path) -> None:
    """Once, as `error` / `Interrupted`, beside the calls that had ended."""
    marker = tmp_path / "began"
    with ending.process("stdio", **PIPES) as process:
        by_hand = ByHand(process)
        by_hand.call("sleeps", 1, 1, marker=str(marker))
        wait_until(marker.exists)
        by_hand.call("ping", 2, 3)
        by_hand.read(3)
        status, _ = by_hand.end(signal.SIGTERM)
    assert status == -signal.SIGTERM
    assert ending.stored() == 3
    [row] = [row for row in ending.rows() if row["tool"] == "sleeps"]
    assert (row["outcome"], row["error_type"], bool(row["ok"])) == ("error", "Interrupted", False)
    assert row["duration_ms"] > 0


def test_sigint_stores_everything_although_fastmcp_goes_on_waiting_for_stdin(ending: Ending) -> None:
    """The records are there while the pipe is still open."""
    with ending.process("stdio", **PIPES) as process:
        by_hand = ByHand(process)
        by_hand.call("ping", 1, CALLS)
        by_hand.read(CALLS)
        process.send_signal(signal.SIGINT)
        wait_until(lambda: ending.stored() == CALLS)


async def ended_over_http(ending: Ending, way: str, number: signal.Signals, port: int) -> int:
    """The exit status of a server that gets the signal after some calls."""
    async with ending.serving(way, port) as (process, client):
        await ping(client, CALLS)
        process.send_signal(number)
        return await asyncio.to_thread(process.wait, DEADLINE_S)


WAYS: Final = [(way, number) for way in ("http", "uvicorn") for number in (signal.SIGTERM, signal.SIGINT)]


@pytest.mark.parametrize(("way", "number"), WAYS)
async def test_an_http_server_that_gets_a_signal_stores_every_answered_call(
    ending: Ending, way: str, number: signal.Signals, free_port: int
) -> None:
    """Under `app.run` and under uvicorn."""
    await ended_over_http(ending, way, number, free_port)
    assert ending.stored() == CALLS


@pytest.mark.parametrize(("way", "number"), WAYS)
async def test_an_http_server_s_exit_status_is_that_without_a_recorder(
    tmp_path: Path, way: str, number: signal.Signals, free_port: int
) -> None:
    """The same server, instrumented and not, ends in the same way."""
    statuses = [await ended_over_http(Ending(tmp_path, kind), way, number, free_port) for kind in ("none", "callback")]
    assert statuses[0] == statuses[1]


@pytest.mark.parametrize(("way", "count"), [("http", CONCURRENT), ("uvicorn", 100)])
async def test_many_concurrent_calls_and_then_sigterm(tmp_path: Path, way: str, count: int, free_port: int) -> None:
    """All that were answered are stored, once."""
    ending = Ending(tmp_path, "database")
    async with ending.serving(way, free_port) as (process, client):
        await ping(client, count)
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(process.wait, DEADLINE_S)
    assert ending.stored() == count


async def test_sigterm_in_the_midst_of_concurrent_calls_over_http(tmp_path: Path, free_port: int) -> None:
    """Every answered call is stored as ok; the others are stored as interrupted, cancelled, or not at all."""
    ending, answered = Ending(tmp_path, "database"), list[int]()

    async def call(client: Client[Any], n: int) -> None:
        await client.call_tool("ping", {"n": n})
        answered.append(n)

    with suppress(Exception):  # the connection breaks; how is the client's business
        async with ending.serving("http", free_port) as (process, client):
            calls = [asyncio.ensure_future(call(client, n)) for n in range(150)]
            await until(lambda: len(answered) >= 20 or any(done.done() and done.exception() for done in calls))
            process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(process.wait, DEADLINE_S)
            for unanswered in calls:
                unanswered.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
    assert answered
    assert len(answered) <= sum(row["outcome"] == "ok" for row in ending.rows()) <= 150


@pytest.mark.parametrize("kind", ["database", "lines", "callback"])
def test_a_script_that_ends_without_a_flush_stores_its_calls(tmp_path: Path, kind: str) -> None:
    """Calls of the host's own code, an event loop that closes, and the interpreter's exit."""
    ending = Ending(tmp_path, kind)
    with ending.process("script") as process:
        assert process.wait(DEADLINE_S) == 0
    assert ending.stored() == 20


@pytest.mark.parametrize("kind", ["database", "lines", "callback"])
def test_after_a_fork_each_process_stores_its_own_calls_once(tmp_path: Path, kind: str) -> None:
    """What waited at the fork is the parent's."""
    ending = Ending(tmp_path, kind)
    with ending.process("fork") as process:
        assert process.wait(DEADLINE_S) == 0
    assert ending.stored() == 60


def test_a_child_that_a_running_tool_forked_ends_at_sigterm_without_a_record(tmp_path: Path) -> None:
    """The running call is the parent's: it is stored once, with its own outcome."""
    ending = Ending(tmp_path, "database")
    with ending.process("stdio", **PIPES) as process:
        by_hand = ByHand(process)
        by_hand.say({"id": 1, "method": "tools/call", "params": {"name": "forks", "arguments": {}}})
        [answer] = by_hand.read(1)
        by_hand.end(signal.SIGTERM)
    assert answer["result"]["content"][0]["text"] == str(-signal.SIGTERM.value)
    assert [(row["tool"], row["outcome"]) for row in ending.rows()] == [("forks", "ok")]


def test_a_sink_on_the_server_s_loop_gets_its_records_at_sigterm(with_callback: Ending) -> None:
    """The loop does not turn any more, so they are written from ours."""
    with with_callback.process("stdio", **PIPES) as process:
        by_hand = ByHand(process)
        by_hand.call("ping", 1, 300)
        by_hand.read(20)
        status, more = by_hand.end(signal.SIGTERM)
    assert status == -signal.SIGTERM
    ok = {row["id"] for row in with_callback.rows() if row["outcome"] == "ok"}
    assert 20 + more <= len(ok) <= 300
