"""Whatever a record holds, every database takes it and gives the JSON-safe form back."""

# ruff: noqa: DTZ001 - times without a zone are among the values

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastmcp_feedback.jsonsafe import Encoded, encode, loads, to_safe
from fastmcp_feedback.records import Derived, EventRecord, Failure, ToolCallRecord
from fastmcp_feedback.store import DatabaseSink
from support.databases import POSTGRES, POSTGRES_ENGINE

KINDS: Final = ["sqlite", "sqlite_engine", POSTGRES, POSTGRES_ENGINE]


class Colour(Enum):
    RED = "red"


class Rude:
    def __str__(self) -> str:
        raise ValueError("no")


odd_text = st.text(st.characters(), max_size=40) | st.sampled_from(
    ["\0", "a\0b", "\ud800", "\udfff x", "\x1b[0m", "\N{SNOWMAN}" * 400, "", "'; DROP TABLE x; --"]
)
short = st.none() | odd_text
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | odd_text
    | st.sampled_from([2**70, -(2**64), math.nan, math.inf, b"\xff\0", Decimal("1.10"), Colour.RED, datetime(2026, 1, 2), {1, 2}, Rude()])
)  # fmt: skip
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(odd_text | st.integers(), inner, max_size=4), max_leaves=12
)
dicts = st.dictionaries(odd_text, values, max_size=4)
moments = st.datetimes(
    datetime(1, 1, 2),
    datetime(9999, 12, 30),
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=-7)), timezone(timedelta(minutes=1))]),
)
failures = st.builds(
    Failure, fault=odd_text, category=odd_text, fingerprint=odd_text, bad_arguments=st.lists(odd_text, max_size=3).map(tuple)
)
derived = st.builds(
    Derived,
    failure=st.none() | failures,
    conversation_key=short, conversation_basis=st.sampled_from([None, "session"]), internal=st.booleans(),
)  # fmt: skip
calls = st.builds(
    ToolCallRecord, tool=odd_text, started_at=moments, duration_ms=st.floats() | st.integers(), ok=st.booleans(), mode=odd_text,
    outcome=odd_text, error_type=short, error_message=short, session_id=short, request_id=short, client_id=short, user_sub=short,
    caller_kind=short,
    identity=dicts, server_version=short, args_size=st.none() | st.integers(), result_size=st.none() | st.integers(0, 2**40),
    args=values, result=values, extra=dicts, sample_rate=st.none() | st.floats(), _derived=derived,
)  # fmt: skip
events = st.builds(
    EventRecord, kind=odd_text, occurred_at=moments, key=short, call_id=short, session_id=short, attrs=dicts, _derived=derived
)


@pytest.fixture
def opened(kind: str, request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[tuple[DatabaseSink, Callable[[Any], Any]]]:
    """A sink, and a loop of its own to run it on."""
    with asyncio.Runner() as runner:
        engine = None
        target: Any = request.getfixturevalue("postgres_database") if kind.startswith("postgres") else f"sqlite:///{tmp_path}/x.db"
        if kind.endswith("_engine"):
            from sqlalchemy.ext.asyncio import create_async_engine

            target = target.replace("postgresql:", "postgresql+asyncpg:").replace("sqlite:", "sqlite+aiosqlite:")
            target = engine = create_async_engine(target)
        sink = DatabaseSink(target, create_tables=True)
        yield sink, runner.run
        runner.run(sink.aclose())
        if engine is not None:
            runner.run(engine.dispose())


def stored(value: Any) -> Any:
    """What a payload is after the JSON-safe rule; None is no value."""
    return loads(encode(value).data)


def alike(one: Any, other: Any) -> bool:
    """Equal, floats by value: JSONB keeps 4e16 as the digits 40000000000000000."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(other, float):
        return isinstance(one, (int, float)) and float(one) == other
    return type(one) is type(other) and bool(one == other)


@pytest.mark.parametrize("kind", KINDS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(record=calls)
def test_any_call_is_stored_and_read_back(opened: tuple[DatabaseSink, Callable[[Any], Any]], record: ToolCallRecord) -> None:
    """No odd value ever fails a batch: NaN, 2**70, surrogates, NUL, bytes, Enum, Decimal, any depth."""
    sink, run = opened

    run(sink.write([record]))
    (row,) = run(sink.read_calls([record.id]))

    assert row["started_at"] == record.started_at
    assert row["ok"] is record.ok
    for name in ("identity", "args", "result", "extra"):
        assert alike(row[name], stored(getattr(record, name)))
    for name in ("tool", "error_message", "session_id", "user_sub"):
        given_text = getattr(record, name)
        assert row[name] == (None if given_text is None else to_safe(given_text)[: 255 if name != "error_message" else None])


@pytest.mark.parametrize("kind", KINDS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(batch=st.lists(events, min_size=1, max_size=5))
def test_any_event_is_stored_and_read_back(opened: tuple[DatabaseSink, Callable[[Any], Any]], batch: list[EventRecord]) -> None:
    """The same for events, many in one batch."""
    sink, run = opened

    run(sink.write(batch))
    names = ", ".join(f":id{n}" for n in range(len(batch)))
    rows = run(
        sink.backend.query([(f"SELECT id, attrs FROM ffb_events WHERE id IN ({names})", {f"id{n}": e.id for n, e in enumerate(batch)})])
    )

    found = {row["id"]: loads(row["attrs"]) if isinstance(row["attrs"], str) else row["attrs"] for row in rows}
    assert found.keys() == {e.id for e in batch}
    for e in batch:
        assert alike(found[e.id], stored(e.attrs))


@pytest.mark.parametrize("kind", KINDS)
def test_nesting_ids_and_sizes_beyond_all_measure(kind: str, opened: tuple[DatabaseSink, Callable[[Any], Any]]) -> None:
    """200 levels, a cycle, a megabyte of tool name, ids that differ only at the end, bytes that are JSON already."""
    sink, run = opened
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    cycle: dict[str, Any] = {}
    cycle["me"] = cycle
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    common: dict[str, Any] = {"tool": "t" * 1_000_000, "started_at": moment, "duration_ms": math.nan, "ok": True, "mode": "full"}
    batch = [
        ToolCallRecord(**common, id="i" * 400 + "1", args=deep, result=cycle),
        ToolCallRecord(
            **common, id="i" * 400 + "2", args=Encoded(b'{"a":[1,"\xc3\xbc"]}'), user_sub="\N{SNOWMAN}" * 5000, session_id="s" * 5000
        ),
        ToolCallRecord(**common, args=Encoded(b"null"), args_size=2**80),
    ]

    run(sink.write(batch))
    run(sink.write(batch))
    rows = run(sink.ask(("SELECT id, args, args_size FROM ffb_tool_calls", {})))

    assert len({row["id"] for row in rows}) == len(rows) == 3
    assert [row["args_size"] for row in rows if row["args"] is None] == [None]


@pytest.mark.parametrize("odd", [0, False, b"", [], Colour.RED, 7, Decimal(1), Rude()])
@pytest.mark.parametrize("kind", KINDS)
def test_a_column_of_text_takes_any_value_made_by_hand(kind: str, opened: tuple[DatabaseSink, Callable[[Any], Any]], odd: Any) -> None:
    """A number, bytes or an enum in a text column is stored as its text."""
    sink, run = opened
    record = ToolCallRecord(
        tool="t", started_at=datetime(2026, 1, 1, tzinfo=UTC), duration_ms=1, ok=True, mode="meta", user_sub=odd, client_id=odd
    )

    run(sink.write([record]))
    (row,) = run(sink.read_calls([record.id]))

    assert row["user_sub"] == row["client_id"]
    assert isinstance(row["user_sub"], str)


def test_a_time_without_zone_counts_as_utc() -> None:
    """A hand-made record in naive UTC is stored as that moment."""
    sink = DatabaseSink("sqlite:///:memory:")
    record = ToolCallRecord(tool="t", started_at=datetime(2026, 1, 2, 3, 4, 5), duration_ms=1, ok=True, mode="meta")

    async def run() -> list[dict[str, Any]]:
        await sink.write([record])
        rows = await sink.read_calls([record.id])
        await sink.aclose()
        return rows

    (row,) = asyncio.run(run())

    assert row["started_at"] == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
