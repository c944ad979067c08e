"""The overview of a server whose recorder has trouble says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastmcp import Client, FastMCP

from fastmcp_feedback import instrument
from fastmcp_feedback.instrumentation import DatabaseSink, MemorySink
from fastmcp_feedback.sink import RecordsRejected
from fastmcp_feedback.web.app import Dashboard
from fastmcp_feedback.web.gates import OpenGate
from fastmcp_feedback.web.pages.overview import recorder_state
from fastmcp_feedback.web.source import Source
from support.asgi import get
from support.waiting import DEADLINE_S


class Refusing:
    """A sink that takes nothing."""

    async def write(self, records: Any) -> None:
        raise RecordsRejected([(record, "not <today>") for record in records])


async def overview(folder: Path, sinks: list[Any], **options: Any) -> tuple[dict[str, Any], str]:
    """The recorder on the overview after one call, and the page."""
    app: FastMCP[Any] = FastMCP("workshop")
    recorder = instrument(app, [DatabaseSink(f"sqlite:///{folder}/calls.db"), *sinks], **options)

    @app.tool
    def paint() -> str:
        return "painted"

    async with Client(app) as client:
        await client.call_tool("paint", {})
    await recorder.flush(DEADLINE_S)
    source = Source(None, lambda: recorder)
    dashboard = Dashboard(source, OpenGate())
    twin, page = await get(dashboard, "/index.json"), await get(dashboard, "/")
    await source.aclose()
    await recorder.aclose()
    found: dict[str, Any] = twin.json()["recorder"]
    return found, page.text


async def test_a_recorder_that_is_well_gives_no_alarm(tmp_path: Path) -> None:
    """Its books are there all the same, and where its spool lies."""
    state, page = await overview(tmp_path, [MemorySink()], spool=tmp_path / "spool")

    assert (state["healthy"], [sink["written"] for sink in state["sinks"]]) == (True, [1, 1])
    assert "needs a look" not in page
    assert str(tmp_path / "spool") in page


async def test_records_that_a_sink_refuses_are_an_alarm(tmp_path: Path) -> None:
    """With the sink's name, how many, and why."""
    state, page = await overview(tmp_path, [Refusing()])

    assert not state["healthy"]
    assert [(sink["lost"] + sink["quarantined"], sink["written"]) for sink in state["sinks"]] == [(0, 1), (1, 0)]
    assert "needs a look" in page
    assert "Refusing-1" in page
    assert "not &lt;today&gt;" in page


def test_without_a_recorder_there_is_no_state() -> None:
    """`serve` reads a database and knows of no recorder."""
    assert recorder_state(None) is None


def test_a_sink_that_is_far_behind_is_an_alarm() -> None:
    """Also when nothing is lost yet; a moment's backlog is none, nor is an error that was kept from the server nothing."""

    class Books:
        def __init__(self, oldest_s: float | None, contained: int = 0, problem: str | None = None) -> None:
            counts = dict.fromkeys(("accepted", "written", "waiting", "spooled", "quarantined", "lost"), 0)
            sink: dict[str, Any] = {
                **counts,
                "quarantine_reasons": {},
                "lost_by_reason": {},
                "last_error": None,
                "oldest_waiting_s": oldest_s,
            }
            self._found = {
                "sinks": {"one": sink}, "mode": "full", "running_calls": 0, "contained_errors": {"a hook": contained},
                "spool": {"problem": problem, "damaged": 0},
            }  # fmt: skip

        def stats(self) -> dict[str, Any]:
            return self._found

    found = [recorder_state(books) for books in (Books(None), Books(2.0), Books(31.0), Books(None, 1), Books(None, 0, "disk full"))]

    assert [state is not None and state.healthy for state in found] == [True, True, False, False, False]
