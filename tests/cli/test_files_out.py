"""`export`, `report` and `prune`: what leaves the database."""

from __future__ import annotations

import csv
import io
import json
import re
import stat
import sys
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest

from fastmcp_feedback.cli.app import run
from fastmcp_feedback.cli.exporting import opened
from fastmcp_feedback.records import EventRecord
from support.recorded import NOON, a_call, database

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the default database: 1,205 calls, one of them with everything that is awkward, and an event."""
    odd = a_call(
        5000, tool=SCRIPT, outcome="error", error_type="=cmd()", error_message='a "b",\nc', user_sub="@sum",
        args={"n": [1, None], "t": "ü"},        mode="full", conversation="c",
    )  # fmt: skip
    model = EventRecord("llm.call", NOON, attrs={"model": SCRIPT, "input_tokens": 3})
    database(tmp_path, [*(a_call(n) for n in range(1204)), odd, model])
    monkeypatch.setenv("FASTMCP_FEEDBACK_DB", str(tmp_path / "calls.db"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_json_lines_hold_every_call_whole(folder: Path) -> None:
    """One object a line, names as the columns, newest first; the file is its owner's."""
    assert run(["export", "-o", "calls.jsonl"]) == 0
    rows = [json.loads(line) for line in (folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()]

    assert len({row["id"] for row in rows}) == len(rows) == 1205
    assert (rows[0]["tool"], rows[0]["args"], rows[0]["started_at"]) == (SCRIPT, {"n": [1, None], "t": "ü"}, "2026-10-02T13:23:20+00:00")
    assert stat.S_IMODE((folder / "calls.jsonl").stat().st_mode) == 0o600


def test_csv_reads_back_and_starts_no_formula(folder: Path) -> None:
    """Quotes, commas and line ends survive; what a spreadsheet would run begins with an apostrophe."""
    assert run(["export", "-o", "calls.csv", "--outcome", "failed"]) == 0
    (row,) = csv.DictReader(io.StringIO((folder / "calls.csv").read_text(encoding="utf-8"), newline=""))

    assert (row["error_message"], json.loads(row["args"])) == ('a "b",\nc', {"n": [1, None], "t": "ü"})
    assert (row["error_type"], row["user_sub"], row["result"]) == ("'=cmd()", "'@sum", "")


def test_events_are_exported_too(folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """To standard output when no file is named."""
    assert run(["export", "--events"]) == 0
    (line,) = capsysbinary.readouterr().out.splitlines()

    assert json.loads(line)["attrs"] == {"model": SCRIPT, "input_tokens": 3}


def test_parquet_keeps_types(folder: Path) -> None:
    """Times are times, numbers are numbers, JSON is text."""
    parquet = pytest.importorskip("pyarrow.parquet")
    assert run(["export", "-o", "calls.parquet"]) == 0
    rows = parquet.read_table(folder / "calls.parquet").to_pylist()

    assert len(rows) == 1205
    assert (rows[0]["started_at"], rows[0]["ok"], json.loads(rows[0]["args"])) == (
        NOON + timedelta(seconds=5000),
        False,
        {"n": [1, None], "t": "ü"},
    )


def test_without_pyarrow_parquet_is_a_hint(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """No traceback, no half of a file."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert run(["export", "-o", "calls.parquet"]) == 1

    assert "pip install 'fastmcp-feedback[parquet]'" in capsys.readouterr().err
    assert sorted(path.name for path in folder.iterdir() if "parquet" in path.name) == []


def test_a_file_that_is_there_stays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Unless it may be overwritten; and then until the new one is whole."""
    kept = folder / "calls.csv"
    kept.write_text("mine")
    assert run(["export", "-o", "calls.csv"]) == 1
    assert run(["report", "--html", "calls.csv"]) == 1
    assert "--overwrite" in capsys.readouterr().err
    with pytest.raises(TypeError), opened(kept, overwrite=True) as stream:
        stream.write("half of it, and not even bytes")  # type: ignore[call-overload]  # what fails half-way
    assert kept.read_text() == "mine"
    assert run(["export", "-o", "calls.csv", "--overwrite"]) == 0
    assert kept.read_text().startswith("tool,")
    assert run(["export", "-o", "no/such/folder.csv"]) == 1


class Page(HTMLParser):
    """Tags and texts of a page; complains about tags that are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        if tag not in {"meta", "rect"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in {"rect", "p"}:
            while self.open[-1] == "p":
                self.open.pop()
            assert self.open.pop() == tag


def test_a_report_is_one_file_that_loads_and_runs_nothing(folder: Path) -> None:
    """Well formed, with charts; recorded text is text; no address, no script."""
    assert run(["report", "--html", "report.html"]) == 0
    text = (folder / "report.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)

    assert page.tags.count("svg") == 3
    assert "script" not in page.tags
    assert "&lt;script&gt;" in text
    assert re.search(r"https?://|src=|href=|@import|url\(", text) is None
    for words in ("Calls over time", "Tools", "Failures", "Flailing", "Language models"):
        assert f"<h2>{words}</h2>" in text


def test_a_report_on_nothing_is_a_page_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And as JSON the same answers."""
    assert run(["report", "--html", "empty.html", "--tool", "nothing"]) == 0
    assert (folder / "empty.html").read_text(encoding="utf-8").endswith("</html>\n")
    capsys.readouterr()
    assert run(["report", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["health"]["tools"][0]["calls"] == 1204


def test_prune_asks_and_tells(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal it deletes only with `--yes`, and says how much went."""
    assert run(["prune", "2026-10-02T12:10:00Z"]) == 2
    assert "--yes" in capsys.readouterr().err
    assert run(["prune", "2026-10-02T12:10:00Z", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"deleted": 601, "kept_calls": 0, "kept_events": 0}
    assert run(["prune", "2026-10-02T12:10:00Z"]) == 0
    assert capsys.readouterr().out == "0 calls and events deleted\n"
