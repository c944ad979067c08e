"""Many rows in one statement: whatever columns are empty, each row comes out whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastmcp_feedback.records import Derived
from fastmcp_feedback.store import DatabaseSink
from fastmcp_feedback.store.sqlite_insert import CHUNK_ROWS
from support.made_up import call

OPTIONAL = ("error_type", "session_id", "client_id", "user_sub", "server_version", "args", "result_size", "sample_rate")


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chunks=st.lists(st.sets(st.sampled_from(OPTIONAL)), min_size=1, max_size=4), rest=st.integers(0, 3))
async def test_columns_left_out_of_one_chunk_are_there_in_the_next(chunks: list[set[str]], rest: int) -> None:
    """A column that was empty so far and is filled now is stored from then on."""
    values: dict[str, Any] = dict.fromkeys(OPTIONAL, "x") | {"args": {"a": 1}, "result_size": 5, "sample_rate": 0.5}
    sink = DatabaseSink("sqlite://")
    records = [call(**{name: values[name] for name in filled}) for filled in chunks for _ in range(CHUNK_ROWS)]
    # The last row of each chunk alone holds something.
    records[CHUNK_ROWS - 1 :: CHUNK_ROWS] = [call(error_message="m", _derived=Derived(trace_id="t")) for _ in chunks]
    records += [call(user_sub="last") for _ in range(rest)]

    await sink.write(records)
    rows = {row["id"]: row for row in await sink.ask(("SELECT * FROM ffb_tool_calls", {}))}
    await sink.aclose()

    assert len(rows) == len(records)
    for record in records:
        assert {name: rows[record.id][name] for name in record.to_row()} == record.to_row()
        assert rows[record.id]["trace_id"] == record.trace_id


async def test_duplicates_inside_a_chunk_are_left_out(tmp_path: Path) -> None:
    """As often as a record comes, it is stored once."""
    sink = DatabaseSink(f"sqlite:///{tmp_path}/calls.db")
    record = call()

    await sink.write([record] * (CHUNK_ROWS * 2 + 1))

    (counted,) = await sink.ask(("SELECT count(*) AS n FROM ffb_tool_calls", {}))
    assert counted["n"] == 1
    await sink.aclose()
