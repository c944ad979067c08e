"""Several processes on one spool directory: kill -9, contention, fork."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from fastmcp_feedback.delivery.spool.holdings import Counts
from support.spooling import SINK, call_ids, entries, ids, opened

WRITER: Final = """
import sys
from support.spooling import entries, opened, made_call
spool = opened(sys.argv[1], segment_bytes=20_000)
if sys.argv[2] == "marks":
    spool.append(entries([0]))
    kept = spool.start_call(["Sink-0"], made_call(1, duration_ms=0.0, outcome="error", error_type="Interrupted"))
    ended = spool.start_call(["Sink-0"], made_call(2))
    spool.end_call(ended)
    spool.start_call(["Sink-0"], made_call(3, tool="early"))
    spool.append(entries([3]))
    print("written", flush=True)
else:
    number = 0
    while True:
        if spool.append(entries(range(number, number + 5))) is None:
            break
        number += 5
        print(number, flush=True)
sys.stdin.read()
"""
CLAIMER: Final = """
import sys
from support.spooling import SINK, opened
spool = opened(sys.argv[1])
sys.stdin.readline()
spool.claim_orphans()
for record, _ in spool.take(SINK, 100_000, 1 << 30):
    print(record.id)
print("taken", flush=True)
sys.stdin.read()
"""


def started(code: str, *arguments: str) -> subprocess.Popen[str]:
    """A Python process that runs this code and sees the test helpers."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )


@pytest.fixture
def processes() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that are killed when the test is over."""
    made: list[subprocess.Popen[str]] = []
    yield made
    for process in made:
        process.kill()
        process.communicate()


def lines_until(process: subprocess.Popen[str], last: str) -> list[str]:
    """What the process prints before this line."""
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        if line.strip() == last:
            return lines
        lines.append(line.strip())
    raise AssertionError(f"the process ended without {last!r}: {lines[-3:]}")


def test_a_killed_writer_loses_nothing_that_it_had_appended(tmp_path: Path, processes: list[subprocess.Popen[str]]) -> None:
    """After kill -9 in the midst of writing, every record whose append returned comes back once and in order."""
    writer = started(WRITER, str(tmp_path / "s"), "records")
    processes.append(writer)
    lines_until(writer, "200")
    writer.send_signal(signal.SIGKILL)
    assert writer.stdout is not None
    appended = max([200, *(int(line) for line in writer.stdout if line.endswith("\n"))])
    writer.wait()
    spool = opened(tmp_path / "s")
    spool.claim_orphans()
    found = ids(spool.take(SINK, 1_000_000, 1 << 30))
    assert found == call_ids(range(len(found)))
    assert len(found) >= appended
    spool.close()


def test_two_processes_that_claim_at_once_share_nothing(tmp_path: Path, processes: list[subprocess.Popen[str]]) -> None:
    """Whoever is first gets a file; together they get each record once."""
    first = opened(tmp_path, segment_bytes=2_000)
    for n in range(100):
        first.append(entries([n]))
    first.close()
    claimers = [started(CLAIMER, str(tmp_path)) for _ in range(2)]
    processes.extend(claimers)
    for claimer in claimers:
        assert claimer.stdin is not None
        claimer.stdin.write("go\n")
        claimer.stdin.flush()
    taken = [lines_until(claimer, "taken") for claimer in claimers]
    assert sorted(taken[0] + taken[1]) == sorted(call_ids(range(100)))


def test_a_call_without_an_end_becomes_an_interrupted_record(tmp_path: Path, processes: list[subprocess.Popen[str]]) -> None:
    """Its duration reaches to the file's last write; calls that ended or have a record of their own do not come twice."""
    writer = started(WRITER, str(tmp_path / "s"), "marks")
    processes.append(writer)
    lines_until(writer, "written")
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    spool = opened(tmp_path / "s")
    assert spool.claim_orphans() == {SINK: 3}
    by_id = {record.id: record for record, _ in spool.take(SINK)}
    assert sorted(by_id) == call_ids([0, 1, 3])
    interrupted = by_id["call-1"].to_dict()
    assert interrupted["error_type"] == "Interrupted"
    assert interrupted["duration_ms"] > 24 * 3600 * 1000
    assert by_id["call-3"].to_dict()["tool"] == "paint"
    spool.close()
    again = opened(tmp_path / "s")
    assert again.claim_orphans() == {SINK: 3}
    assert sorted(ids(again.take(SINK))) == call_ids([0, 1, 3])
    again.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_leaves_the_parents_files_alone(tmp_path: Path) -> None:
    """The child writes files of its own; when the parent is done, its lock is free though the child lives."""
    parent = opened(tmp_path)
    parent.append(entries(range(3)))
    ready, done = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        parent.abandon_after_fork()
        own = opened(tmp_path)
        answer = b"y" if own.append(entries([7])) and parent.append(entries([8])) is None else b"n"
        os.write(ready[1], answer)
        os.read(done[0], 1)
        os._exit(0)
    try:
        assert os.read(ready[0], 1) == b"y"
        assert parent.counts(SINK) == Counts(held=0, on_disk=3, recovered=0)
        parent.close()
        other = opened(tmp_path)
        assert other.claim_orphans() == {SINK: 3}
        assert ids(other.take(SINK)) == call_ids(range(3))
        other.close()
    finally:
        os.write(done[1], b"x")
        os.waitpid(child, 0)
        for fd in (*ready, *done):
            os.close(fd)
    last = opened(tmp_path)
    assert last.claim_orphans() == {SINK: 4}  # the child's record, and what `other` gave back
    last.close()


def test_threads_may_append_take_and_settle_at_once(tmp_path: Path) -> None:
    """Each record is taken exactly once, whatever runs beside."""
    spool = opened(tmp_path, segment_bytes=5_000)
    taken: list[str] = []
    writing = threading.Event()

    def write() -> None:
        for n in range(0, 500, 5):
            spool.append(entries(range(n, n + 5)))
        writing.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not writing.is_set() or spool.on_disk_only(SINK):
        for record, ticket in spool.take(SINK, 20):
            taken.append(record.id)
            spool.settle(SINK, ticket)
        spool.maintain()
    writer.join()
    assert taken == call_ids(range(500))
    spool.close()
    assert list(tmp_path.glob("*.spool")) == []
