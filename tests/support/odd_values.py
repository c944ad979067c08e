"""Values that JSON cannot hold, or holds badly; and a sink of each kind to store them in."""

from __future__ import annotations

import enum
import json
import math
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from hypothesis import strategies as st
from pydantic import BaseModel

from fastmcp_feedback.instrumentation import CallbackSink, DatabaseSink, EventRecord, JsonLinesSink, MemorySink, ToolCallRecord


class Colour(enum.Enum):
    """An enumeration."""

    RED = "red"


class Scene(BaseModel):
    """A pydantic model."""

    name: str


@dataclass
class Frame:
    """A dataclass."""

    number: int


def cycle() -> list[Any]:
    """A list that holds itself."""
    made: list[Any] = [1]
    made.append(made)
    return made


def deep(levels: int) -> Any:
    """A list in a list in a list."""
    made: Any = "bottom"
    for _ in range(levels):
        made = [made]
    return made


ODDITIES: Final[dict[str, Any]] = {
    "nan": math.nan,
    "infinity": [math.inf, -math.inf],
    "2**70": 2**70,
    "-2**70": {"n": -(2**70)},
    "lone surrogate": "a\ud800b",
    "nul": "a\0b",
    "bytes": b"\xff\x00raw",
    "decimal": Decimal("1.50"),
    "datetime": datetime(2026, 10, 2, 12, tzinfo=UTC),
    "date": date(2026, 10, 2),
    "uuid": UUID(int=7),
    "enum": Colour.RED,
    "pydantic": Scene(name="s"),
    "dataclass": Frame(3),
    "cycle": cycle(),
    "200 levels": deep(200),
    "set": {1},
    "odd keys": {1: "a", None: "b", (1, 2): "c", "a\ud800": "d"},
    "type": int,
}

plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)) | st.binary(max_size=20)
odd = plain | st.sampled_from([value for name, value in ODDITIES.items() if name != "200 levels"]) | st.decimals() | st.datetimes()
keys = st.text(st.characters(codec=None), max_size=8)
values = st.recursive(odd, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4), max_leaves=12)

Reader = Callable[[], list[dict[str, Any]]]


def strict(text: str | bytes) -> Any:
    """Decode JSON as a foreign reader would: no NaN, valid UTF-8."""

    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def _decoded(row: sqlite3.Row) -> dict[str, Any]:
    names = ("args", "result", "extra", "attrs", "identity")
    return {name: strict(value) if name in names and value is not None else value for name, value in dict(row).items()}


def _rows(path: Path) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        calls = [_decoded(row) for row in connection.execute("select * from ffb_tool_calls order by started_at, rowid")]
        return calls + [_decoded(row) for row in connection.execute("select * from ffb_events order by occurred_at, rowid")]


def _as_dicts(records: list[ToolCallRecord | EventRecord]) -> list[dict[str, Any]]:
    calls = [record.to_dict() for record in records if isinstance(record, ToolCallRecord)]
    return calls + [record.to_dict() for record in records if isinstance(record, EventRecord)]


def _lines(path: Path) -> list[dict[str, Any]]:
    lines = [strict(line) for line in path.read_bytes().splitlines()]
    return [line for line in lines if line["record"] == "tool_call"] + [line for line in lines if line["record"] == "event"]


def every_sink(folder: Path) -> tuple[list[Any], dict[str, Reader]]:
    """JSON lines, a callback, memory and a database; and what each has stored: calls, then events."""
    seen: list[ToolCallRecord | EventRecord] = []
    memory = MemorySink()
    sinks = [
        JsonLinesSink(path=folder / "lines.jsonl"),
        CallbackSink(seen.extend),
        memory,
        DatabaseSink(f"sqlite:///{folder}/calls.db"),
    ]
    return sinks, {
        "lines": lambda: _lines(folder / "lines.jsonl"),
        "callback": lambda: _as_dicts(seen),
        "memory": lambda: _as_dicts(memory.records),
        "database": lambda: _rows(folder / "calls.db"),
    }
