"""Values that JSON cannot hold, in arguments, results, extra and attrs: stored and readable in every sink."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from hypothesis import given, settings

from fastmcp_feedback.instrumentation import InstrumentationMiddleware, instrument
from support.capturing import call_directly
from support.odd_values import ODDITIES, every_sink, strict, values
from support.studio import call


class Odd:
    """A server whose calls meet one odd value everywhere."""

    def __init__(self, folder: Path, value: Any) -> None:
        self.value = value
        sinks, self.readers = every_sink(folder)
        self.app: FastMCP[Any] = FastMCP("odd")

        @self.app.tool
        async def takes(value: Any, other: Any = None) -> str:
            self.mw.record_event("step", key="k", attrs={"value": self.value})
            return "taken"

        self.mw: InstrumentationMiddleware = instrument(self.app, sinks, mode="full", enricher=lambda *_: {"value": self.value})

    async def record(self) -> dict[str, list[dict[str, Any]]]:
        """One call with the value in arguments, extra and attrs; what every sink holds."""
        await call_directly(self.app, "takes", {"value": self.value})
        await self.mw.aclose()
        books = self.mw.stats()["sinks"].values()
        assert [(b["accepted"], b["written"], b["lost"], b["quarantined"]) for b in books] == [(2, 2, 0, 0)] * 4
        return {name: read() for name, read in self.readers.items()}


def payloads(rows: list[dict[str, Any]]) -> list[Any]:
    """Where the value stands."""
    recorded, event = rows
    return [recorded["args"], recorded["extra"], event["attrs"]]


@pytest.mark.parametrize("name", ODDITIES)
async def test_every_sink_stores_the_same_readable_form(tmp_path: Path, name: str) -> None:
    """In all places and sinks alike; nothing is lost, and no error is contained."""
    stored = await Odd(tmp_path, ODDITIES[name]).record()
    shown = payloads(stored["lines"])
    assert [payloads(rows) for rows in stored.values()] == [shown] * 4
    assert shown[0] == shown[1] == shown[2]


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("nan", "nan"),
        ("infinity", ["inf", "-inf"]),
        ("2**70", 2**70),
        ("-2**70", {"n": -(2**70)}),
        ("lone surrogate", "a\\ud800b"),
        ("nul", "a\\u0000b"),
        ("bytes", str(b"\xff\x00raw")),
        ("decimal", "1.50"),
        ("datetime", "2026-10-02T12:00:00+00:00"),
        ("date", "2026-10-02"),
        ("enum", "Colour.RED"),
        ("pydantic", "name='s'"),
        ("dataclass", "Frame(number=3)"),
        ("cycle", [1, "[CYCLE]"]),
        ("set", [1]),
        ("odd keys", {"1": "a", "None": "b", "(1, 2)": "c", "a\\ud800": "d"}),
    ],
)
async def test_the_rule_of_each_type(tmp_path: Path, name: str, form: Any) -> None:
    """One form for each kind of value."""
    stored = await Odd(tmp_path, ODDITIES[name]).record()
    assert stored["database"][0]["args"] == {"value": form}


@settings(max_examples=25)
@given(values)
def test_any_value_is_stored_by_every_sink(value: Any) -> None:
    """Whatever it is made of."""
    with TemporaryDirectory() as folder:
        stored = asyncio.run(Odd(Path(folder), value).record())
    assert [payloads(rows) for rows in stored.values()] == [payloads(stored["lines"])] * 4


async def test_odd_results_are_stored_as_the_client_got_them(tmp_path: Path) -> None:
    """Results that FastMCP can send: numbers that JSON lacks, NUL, 200 levels, dates."""
    sinks, readers = every_sink(tmp_path)
    app: FastMCP[Any] = FastMCP("odd")
    sendable = {name: ODDITIES[name] for name in ("2**70", "nul", "decimal", "datetime", "enum", "pydantic", "dataclass", "set")}

    @app.tool
    async def gives(name: str) -> Any:
        return {"value": sendable[name]}

    mw = instrument(app, sinks, mode="full")
    async with Client(app) as client:
        answers = [await call(client, "gives", name=name) for name in sendable]
    await mw.aclose()
    for read in readers.values():
        rows = read()
        assert [row["outcome"] for row in rows] == ["ok"] * len(sendable)
        shown = [row["result"] for row in rows]
        sent = [strict(answer.content[0].text) for answer in answers]
        assert [found == (want if want != {"value": "a\0b"} else {"value": "a\\u0000b"}) for found, want in zip(shown, sent, strict=True)]


@pytest.mark.parametrize("name", ["nan", "infinity", "lone surrogate", "bytes", "200 levels", "cycle"])
async def test_results_that_cannot_be_sent_are_recorded_whatever_becomes_of_them(tmp_path: Path, name: str) -> None:
    """FastMCP may refuse them, which is a failed call; there is one record all the same."""
    sinks, readers = every_sink(tmp_path)
    app: FastMCP[Any] = FastMCP("odd")

    @app.tool
    async def gives() -> Any:
        return {"value": ODDITIES[name]}

    mw = instrument(app, sinks, mode="full")
    with suppress(Exception):  # FastMCP's own refusal
        await call_directly(app, "gives", {})
    await mw.aclose()
    assert [[row["tool"] for row in read()] for read in readers.values()] == [["gives"]] * 4


async def test_a_tool_name_of_a_megabyte_is_one_short_record(tmp_path: Path) -> None:
    """Cut at 255 characters in every sink, the error text at its own limit; memory does not keep the whole."""
    sinks, readers = every_sink(tmp_path)
    app: FastMCP[Any] = FastMCP("odd")
    mw = instrument(app, sinks, mode="full")
    async with Client(app) as client:
        await call(client, "t" * 1_000_000)
        await mw.flush()
    for read in readers.values():
        [row] = read()
        assert (row["tool"], row["outcome"], row["error_type"]) == ("t" * 255, "error", "NotFoundError")
        assert len(row["error_message"]) <= 500
    assert [len(known.tool) for known in mw.call_log.newest_first()] == [255]
    await mw.aclose()
