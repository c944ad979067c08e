"""`doctor`: what is wrong has an id, words and a hint."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest  # noqa: TC002 - as everywhere

from fastmcp_feedback.cli.app import run
from fastmcp_feedback.records import Derived, Failure, ToolCallRecord
from support.recorded import a_call, database


def checks(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, dict[str, str]]:
    """The checks by id; the command has to end with this code."""
    assert run(["doctor", "--json", *arguments]) == code
    return {check["id"]: check for check in json.loads(capsys.readouterr().out)}


def now_and_then(*seconds_ago: float, **changes: object) -> list[ToolCallRecord]:
    """Calls that began so long ago."""
    return [a_call(n, started_at=datetime.now(UTC) - timedelta(seconds=ago), **changes) for n, ago in enumerate(seconds_ago)]


def test_a_database_in_order_has_no_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Everything is ok, or a note about what is not installed."""
    database(tmp_path, now_and_then(60, 30))
    found = checks(capsys, "--db", str(tmp_path / "calls.db"))

    assert {check["state"] for check in found.values()} <= {"ok", "note"}
    assert {"versions", "redaction.works", "redaction.stored", "database", "schema", "recording", "clock", "losses"} <= set(found)
    assert run(["doctor", "--db", str(tmp_path / "calls.db")]) == 0
    assert "up to date" in capsys.readouterr().out


def test_what_somebody_should_look_at_is_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Old records, calls cut off, stored secrets, a file that others can read: each with a hint; the exit code stays 0."""
    cut = Derived(failure=Failure("cancelled", "interrupted", "f1-x"))
    moment = datetime.now(UTC) - timedelta(days=1)
    records = [
        ToolCallRecord("render", moment, 1.0, ok=False, mode="full", outcome="error", error_type="Interrupted", _derived=cut),
        a_call(9, started_at=moment, args={"password": "correct-horse-9"}, mode="full"),
    ]
    database(tmp_path, records)
    (tmp_path / "calls.db").chmod(0o644)
    found = checks(capsys, "--db", str(tmp_path / "calls.db"))
    warned = {name for name, check in found.items() if check["state"] == "warning"}

    assert warned == {"losses", "redaction.stored", "database.mode"}
    assert all(found[name]["hint"] for name in warned)
    assert "correct-horse-9" not in json.dumps(found)
    database(tmp_path, now_and_then(30 * 86_400), "old.db")
    assert checks(capsys, "--db", str(tmp_path / "old.db"))["recording"]["state"] == "warning"


def test_a_clock_that_is_ahead_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A call from the future ends the command with 1."""
    database(tmp_path, now_and_then(-3600))

    assert "from now" in checks(capsys, "--db", str(tmp_path / "calls.db"), code=1)["clock"]["text"]


def test_a_database_that_is_none_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Missing, empty, somebody else's, of an older version, unsupported: said in words."""
    assert checks(capsys, "--db", str(tmp_path / "missing.db"), code=1)["database"]["hint"]
    (tmp_path / "empty.db").touch()
    assert "holds no recorded calls" in checks(capsys, "--db", str(tmp_path / "empty.db"), code=1)["database"]["text"]
    (tmp_path / "text.db").write_text("this is no database, but long enough to be looked at as one" * 20)
    assert checks(capsys, "--db", str(tmp_path / "text.db"), code=1)["database"]["state"] == "error"
    with sqlite3.connect(tmp_path / "foreign.db") as con:
        con.execute("CREATE TABLE ffb_tool_calls (colour TEXT)")
    con.close()
    assert "database" in checks(capsys, "--db", str(tmp_path / "foreign.db"), code=1)
    assert checks(capsys, "--db", "mysql://x/y", code=1)["database"]["state"] == "error"


def test_a_spool_is_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty folder is in order, a missing one is an error."""
    database(tmp_path, now_and_then(60))
    (tmp_path / "spool").mkdir()
    db = str(tmp_path / "calls.db")

    assert checks(capsys, "--db", db, "--spool", str(tmp_path / "spool"))["spool"]["state"] == "ok"
    assert checks(capsys, "--db", db, "--spool", str(tmp_path / "nowhere"), code=1)["spool"]["state"] == "error"
