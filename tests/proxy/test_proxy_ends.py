"""How the proxy ends: with its client, with its child, by a signal, or before it has begun."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from support.proxied import PROXY, end, initialize, proxy_process, rows

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]


@pytest.fixture
def temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the proxy and its children put what is temporary."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


def test_a_child_that_crashes_ends_the_proxy_with_its_code_and_one_line(server: list[str], tmp_path: Path, temporary_folder: Path) -> None:
    """Exit code 7, one clear line, the call during which it died is recorded, and nothing is left behind."""
    database = tmp_path / "calls.db"
    process = proxy_process("--db", str(database), "--", *server)
    try:
        initialize(process)
        assert process.stdin is not None
        process.stdin.write(b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"die","arguments":{}}}\n')
        process.stdin.flush()
        assert process.wait(20) == 7
    finally:
        err = end(process)
    assert "a word on stderr" in err
    assert f"fastmcp-feedback proxy: {sys.executable} ended with exit code 7" in err
    assert err.count("exit code 7") == 1
    assert "Traceback" not in err
    assert [(tool, outcome) for tool, outcome, _ in rows(database)] == [("add", "ok"), ("die", "error")]
    assert list(temporary_folder.iterdir()) == []


def test_a_signal_goes_to_the_child_and_the_proxy_ends_alike(server: list[str], tmp_path: Path) -> None:
    """SIGTERM ends the server by SIGTERM, and so the proxy."""
    process = proxy_process("--db", str(tmp_path / "calls.db"), "--", *server)
    try:
        initialize(process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == -signal.SIGTERM
    finally:
        end(process)
    assert [tool for tool, _, _ in rows(tmp_path / "calls.db")] == ["add"]


def test_a_child_that_ends_in_order_when_told_to_is_no_failure(old_server: list[str], tmp_path: Path) -> None:
    """SIGTERM makes this server exit with 0; so does the proxy, without a word."""
    process = proxy_process("--db", str(tmp_path / "calls.db"), "--", *old_server)
    try:
        initialize(process, "echo_it", "{}")
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        assert end(process) == ""


def test_a_closed_stdin_ends_the_child_and_the_proxy_with_code_0(server: list[str], tmp_path: Path, temporary_folder: Path) -> None:
    """The ordinary end of a stdio server."""
    process = proxy_process("--db", str(tmp_path / "calls.db"), "--", *server)
    try:
        initialize(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 0
    finally:
        end(process)
    assert [tool for tool, _, _ in rows(tmp_path / "calls.db")] == ["add"]
    assert list(temporary_folder.iterdir()) == []


INITIALIZE = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    b'"clientInfo":{"name":"by hand","version":"1"}}}\n'
)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--", "bash", "-c", "exit 3"], 3, "bash ended with exit code 3"),
        (["--", "{}/no-interpreter"], 127, "no-interpreter could not be started: No such file or directory"),
        (["--url", "http://me:hunter2-prod@127.0.0.1:9/mcp"], 0, "http://me:***@127.0.0.1:9/mcp cannot be reached"),
    ],
)
def test_a_server_that_cannot_be_reached_is_one_line_and_an_error_for_the_client(
    arguments: list[str], code: int, words: str, tmp_path: Path
) -> None:
    """The client's first request is answered with an error, never with a server that is not there."""
    script = tmp_path / "no-interpreter"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o700)
    process = proxy_process("--db", str(tmp_path / "calls.db"), *(argument.format(tmp_path) for argument in arguments))
    try:
        out, err = process.communicate(INITIALIZE, timeout=60) if code == 0 else _answer_first(process)
        assert process.wait(20) == code
    finally:
        end_quietly(process)
    assert b'"error"' in out
    lines = err.decode().splitlines()
    assert len(lines) == 1
    assert words in lines[0]


def _answer_first(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Ask, and leave stdin open until the process is gone."""
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(INITIALIZE)
    process.stdin.flush()
    return process.stdout.read(), process.stderr.read()


def end_quietly(process: subprocess.Popen[bytes]) -> None:
    """Make sure that it is gone."""
    process.kill()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
    process.wait(10)


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
