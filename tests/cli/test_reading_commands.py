"""`stats` and `calls`: for people, for machines, and when something is wrong."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from fastmcp_feedback.cli import output, reading
from fastmcp_feedback.cli.app import run
from support.recorded import a_call, database


def recorded(folder: Path) -> str:
    """A database's file name, as people give it."""
    hostile = "\x1b[31mred\x1b[0m [bold]not markup[/bold] \u202ereversed"
    records = [
        *(a_call(n) for n in range(3)),
        a_call(3, outcome="soft_error", error_type="SoftError", error_message="status=failed: disk full"),
        a_call(4, tool=hostile[:200], outcome="error", error_type="ValueError", error_message=hostile),
    ]
    database(folder, records)
    return str(folder / "calls.db")


def test_stats_shows_each_tool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One row a tool and a sum, the same as JSON."""
    db = recorded(tmp_path)
    assert run(["stats", "--db", db]) == 0
    shown = capsys.readouterr().out
    assert "5 calls of 2 tools, 2 failed" in shown
    assert run(["stats", "--db", db, "--json"]) == 0
    tools = {tool["tool"]: tool for tool in json.loads(capsys.readouterr().out)}
    assert (tools["render"]["calls"], tools["render"]["ok"], tools["render"]["soft_errors"]) == (4, 3, 1)


@pytest.mark.parametrize("module", ["fastmcp_feedback", "fastmcp_feedback.cli"])
def test_the_package_itself_is_the_command_line(module: str, tmp_path: Path) -> None:
    """`python -m` works where the script is not on the path."""
    done = subprocess.run([sys.executable, "-m", module, "stats", "--db", recorded(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "5 calls of 2 tools" in done.stdout


def test_recorded_text_cannot_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Escapes and direction marks are shown, not sent; markup is text."""
    db = recorded(tmp_path)
    assert run(["calls", "--db", db]) == 0
    assert run(["stats", "--db", db]) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\x1b[31mred" in shown
    assert "[bold]" in shown


@pytest.mark.parametrize("width", [80, 160])
def test_each_call_takes_one_line(width: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """On a narrow terminal errors are cut to what is left, and ids stay long enough to be asked for."""
    long = "the renderer ran out of memory while it looked at a scene that nobody had thought of before it was too late to stop " * 2
    database(tmp_path, [a_call(n, outcome="error", error_type="ValueError", error_message=long) for n in range(3)])
    monkeypatch.setattr(output, "console", lambda: Console(width=width, highlight=False, color_system=None))
    monkeypatch.setattr(reading, "console", output.console)
    assert run(["calls", "--db", str(tmp_path / "calls.db")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert {len(line.rstrip()) <= width for line in lines} == {True}
    assert all("ValueError: the" in line and "\u2026" in line for line in lines[1:])
    assert [line.split()[-1][:8] for line in lines[1:]] == ["00000002", "00000001", "00000000"]


def test_calls_filters_and_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By tool, outcome and number, newest first."""
    db = recorded(tmp_path)
    assert run(["calls", "--db", db, "--outcome", "failed", "--tool", "render", "--json"]) == 0
    (call,) = json.loads(capsys.readouterr().out)
    assert call["error_message"] == "status=failed: disk full"
    assert run(["calls", "--db", db, "-n", "2", "--json"]) == 0
    assert [call["id"][:8] for call in json.loads(capsys.readouterr().out)] == ["00000004", "00000003"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["stats", "--db", "{}/missing.db"], 1, "there is no database at"),
        (["stats", "--db", "{}/foreign.db"], 1, "is not of this package"),
        (["calls", "--db", "{}/empty.db"], 1, "holds no recorded calls"),
        (["stats", "--since", "gestern"], 2, "is not a time"),
        (["calls", "--outcome", "broken"], 2, "write one of"),
        (["calls", "-n", "0", "--db", "{}/calls.db"], 2, "a page has 1 to 1000 calls"),
        (["stats", "--db", "mysql://x/y"], 1, "is not supported"),
        (["stat"], 2, ""),
        (["proxy"], 2, "say what to record"),
        (["proxy", "--", "no-such-command-anywhere"], 127, "command not found"),
        (["proxy", "--http", "0.0.0.0:1", "--", "true"], 2, "give a --token"),
        (["proxy", "--http", "nowhere", "--", "true"], 2, "is not an address"),
        (["proxy", "--mode", "loud", "--", "true"], 2, "write meta or full"),
        (["spool", "status", "{}/no-spool"], 1, "there is no folder"),
        (["redact", "--explain", "{}/no-file"], 1, "cannot be read"),
    ],
)
def test_a_mistake_is_one_line_and_an_exit_code(
    arguments: list[str], code: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No traceback; 1 could not, 2 asked wrongly."""
    recorded(tmp_path)
    foreign = sqlite3.connect(tmp_path / "foreign.db")
    foreign.execute("CREATE TABLE ffb_tool_calls (x)")
    foreign.close()
    (tmp_path / "empty.db").touch()
    monkeypatch.setenv("FASTMCP_FEEDBACK_DB", str(tmp_path / "calls.db"))
    assert run([argument.format(tmp_path) for argument in arguments]) == code
    err = capsys.readouterr().err
    assert words in err
    assert err.startswith("fastmcp-feedback: ")
    assert "Traceback" not in err


def test_nothing_recorded_is_said_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty database and a filter that matches nothing are no errors."""
    database(tmp_path, [])
    db = str(tmp_path / "calls.db")
    assert run(["stats", "--db", db]) in (0, 1)
    capsys.readouterr()
    db = recorded(tmp_path)
    assert run(["calls", "--db", db, "--tool", "nothing"]) == 0
    assert "No recorded call matches" in capsys.readouterr().out


def test_a_database_of_somebody_else_stays_as_it_is(tmp_path: Path) -> None:
    """Reading neither writes to it nor changes its journal mode."""
    theirs = tmp_path / "theirs.db"
    con = sqlite3.connect(theirs)
    con.execute("CREATE TABLE t (x)")
    con.close()
    before = theirs.read_bytes()
    assert run(["stats", "--db", str(theirs)]) == 1
    assert theirs.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["theirs.db"]


def test_db_commands_create_and_describe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`db upgrade` makes the tables, `db status` shows them, `db sql` prints what it would do."""
    db = str(tmp_path / "new.db")
    assert run(["db", "upgrade", "--db", db]) == 0
    assert run(["db", "upgrade", "--db", db]) == 0
    assert "up to date" in capsys.readouterr().out
    assert run(["db", "status", "--db", db, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["up_to_date"] is True
    assert run(["db", "sql"]) == 0
    assert "CREATE TABLE" in capsys.readouterr().out


def test_redact_explains_without_showing_the_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rule and the place are shown; the secret never is."""
    file = tmp_path / "log.txt"
    file.write_text("connecting with password=correct-horse-9 to db\n")
    assert run(["redact", "--explain", str(file)]) == 0
    explained = capsys.readouterr().out
    assert run(["redact", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "correct-horse-9" not in explained + shown
    assert "password=[REDACTED]" in shown
    assert explained.strip()


def test_output_may_be_cut_by_a_pipe(tmp_path: Path) -> None:
    """`| head` ends the command without a traceback."""
    db = recorded(tmp_path)
    command = f"{sys.executable} -m fastmcp_feedback.cli calls --json --db {db} | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "["
    assert done.stderr == ""
