"""The filter: parsed from texts, turned into bound SQL that selects exactly what it says."""

from __future__ import annotations

import asyncio
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastmcp_feedback.query.calls import list_calls
from fastmcp_feedback.query.filters import FAULTS, OUTCOMES, Filter
from fastmcp_feedback.query.moments import FilterError, parse_moment
from fastmcp_feedback.query.reader import open_reader
from fastmcp_feedback.records import ToolCallRecord
from support.recorded import NOON, a_call, database

WORDS = ("render", "RENDER", "50%", "a_b", "it's", '"x"', "!", "'; DROP TABLE ffb_tool_calls; --", "\u00e9t\u00e9")
word = st.sampled_from(WORDS)
maybe = st.none() | word

calls = st.builds(
    lambda outcome, tool, user, conversation, client, version, message, fault, fingerprint, internal: {
        "outcome": outcome, "tool": tool, "user_sub": user, "conversation": conversation, "client_id": client,
        "server_version": version, "error_message": message, "fault": fault, "fingerprint": fingerprint, "internal": internal,
    },
    st.sampled_from(OUTCOMES), word, maybe, maybe, maybe, maybe, maybe, st.sampled_from(FAULTS), word, st.booleans(),
)  # fmt: skip
moments = st.none() | st.integers(-3, 25).map(lambda seconds: NOON + timedelta(seconds=seconds))
filters = st.builds(
    Filter, moments, moments, maybe, st.none() | st.sampled_from((*OUTCOMES, "failed")), st.none() | st.sampled_from(FAULTS),
    maybe, maybe, maybe, maybe, maybe, maybe, st.booleans(),
)  # fmt: skip


def meant(which: Filter, call: ToolCallRecord) -> bool:
    """What the filter says, in Python."""
    failure = call.failure
    pairs = (
        (which.tool, call.tool), (which.fault, failure.fault if failure else None), (which.user, call.user_sub),
        (which.conversation, call.conversation_key), (which.client, call.client_id), (which.server_version, call.server_version),
        (which.fingerprint, call.fingerprint),
    )  # fmt: skip
    return (
        (which.since is None or call.started_at >= which.since)
        and (which.until is None or call.started_at < which.until)
        and all(wanted is None or wanted == found for wanted, found in pairs)
        and (which.outcome in (None, call.outcome) or (which.outcome == "failed" and not call.ok))
        and (which.text is None or which.text.lower() in _ascii_lower(call.error_message))
        and (which.internal or not call.internal)
    )


def _ascii_lower(text: str | None) -> str:
    return (text or "").lower()


@settings(max_examples=30)
@given(st.lists(calls, min_size=1, max_size=20), st.lists(filters, min_size=1, max_size=8))
def test_a_filter_selects_exactly_what_it_says(rows: list[dict[str, object]], wanted: list[Filter]) -> None:
    """On SQLite, for any values, quotes and wildcards included; the database survives all of it."""
    records = [a_call(number, **row) for number, row in enumerate(rows)]

    async def selected(url: str) -> list[list[str]]:
        async with open_reader(url) as reader:
            return [[row["id"] for row in (await list_calls(reader, which, limit=100)).calls] for which in wanted]

    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(selected(database(Path(folder), records)))
    newest_first = sorted(records, key=lambda call: call.started_at, reverse=True)
    assert found == [[call.id for call in newest_first if meant(which, call)] for which in wanted]


@given(filters)
def test_a_filter_survives_its_texts(which: Filter) -> None:
    """What `texts` writes, `parse` reads: URLs and cursors carry a filter unchanged."""
    if which.since is not None and which.until is not None and which.since >= which.until:
        with pytest.raises(FilterError, match="since must be before until"):
            Filter.parse(which.texts())
    else:
        assert Filter.parse(which.texts()) == which


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"tol": "x"}, "unknown filter 'tol'; known are"),
        ({"outcome": "broken"}, "write one of ok, soft_error, error, failed"),
        ({"fault": "me"}, "write one of caller, upstream, server, cancelled"),
        ({"since": "gestern"}, "is not a time: write 2h"),
        ({"internal": "perhaps"}, "internal is true or false"),
        ({"tool": "x" * 256}, "at most 255"),
    ],
)
def test_a_filter_that_cannot_be_understood_says_what_is_allowed(values: dict[str, str], message: str) -> None:
    """The message names the filter and the allowed values."""
    with pytest.raises(FilterError, match=message):
        Filter.parse(values)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2h", NOON - timedelta(hours=2)),
        ("15 min", NOON - timedelta(minutes=15)),
        ("1w", NOON - timedelta(weeks=1)),
        ("now", NOON),
        ("2026-10-01T10:00:00+02:00", datetime(2026, 10, 1, 8, tzinfo=UTC)),
    ],
)
def test_a_moment_is_written_as_people_write_it(text: str, moment: datetime) -> None:
    """Relative to now, or ISO 8601."""
    assert parse_moment(text, NOON) == moment


@pytest.mark.parametrize("text", ["", "soon", "-2h", "2 hours ago maybe", "9999999d", "2026-13-45"])
def test_nonsense_is_not_a_moment(text: str) -> None:
    """It is refused with examples of what is."""
    with pytest.raises(FilterError, match="is not a time"):
        parse_moment(text, NOON)
