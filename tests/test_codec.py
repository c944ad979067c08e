"""Records as bytes: whatever goes in comes out."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.codec import UnreadableRecord, decode_record, encode_record, record_id
from fastmcp_feedback.jsonsafe import Encoded, encode, to_safe
from fastmcp_feedback.records import Derived, EventRecord, Failure, ToolCallRecord, encoded_payload

NOON = datetime(2026, 5, 4, 12, 0, 0, 123456, tzinfo=UTC)

texts = st.text(st.characters(codec="utf-8"), max_size=20)
maybe = st.none() | texts
# The JSON-safe rule makes NUL visible in payloads; shaping has done so before.
safe_texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False) | safe_texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(safe_texts, inner, max_size=3),
    max_leaves=10,
)
json_objects = st.dictionaries(safe_texts, json_values, max_size=3)
moments = st.datetimes(
    min_value=datetime(1971, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    max_value=datetime(2200, 1, 1),  # noqa: DTZ001 - see above
    timezones=st.just(UTC) | st.integers(-720, 720).map(lambda minutes: timezone(timedelta(minutes=minutes))),
)
failures = st.builds(Failure, texts, texts, texts, st.lists(texts, max_size=3).map(tuple))
derived = st.none() | st.builds(Derived, st.none() | failures, maybe, maybe, maybe, maybe, maybe, st.booleans())
calls = st.builds(
    ToolCallRecord,
    tool=texts, started_at=moments, duration_ms=st.floats(allow_nan=False), ok=st.booleans(), mode=texts, outcome=texts, id=texts,
    error_type=maybe, error_message=maybe, session_id=maybe, request_id=maybe, client_id=maybe, user_sub=maybe, caller_kind=maybe,
    identity=json_objects, server_version=maybe, args_size=st.none() | st.integers(0, 2**63), result_size=st.none() | st.integers(0),
    args=json_values, result=json_values, extra=json_objects, sample_rate=st.none() | st.floats(0, 1), _derived=derived,
)  # fmt: skip
events = st.builds(
    EventRecord,
    kind=texts, occurred_at=moments, id=texts, key=maybe, call_id=maybe, session_id=maybe, user_sub=maybe, caller_kind=maybe,
    client_id=maybe, server_version=maybe, attrs=json_objects, _derived=derived,
)  # fmt: skip


@given(calls | events)
def test_any_record_comes_back_as_it_was(record: ToolCallRecord | EventRecord) -> None:
    """All fields, the exact time and its offset, and the derived facts survive."""
    back = decode_record(encode_record(record))
    assert back == record
    assert back._derived == record._derived
    moment, came_back = (r.started_at if isinstance(r, ToolCallRecord) else r.occurred_at for r in (record, back))
    assert moment.utcoffset() == came_back.utcoffset()


@given(calls | events)
def test_the_bytes_are_one_json_object(record: ToolCallRecord | EventRecord) -> None:
    """Other tools can read them, and the id stands where it is found without parsing."""
    data = encode_record(record)
    value = json.loads(data)
    assert value["id"] == record.id
    assert record_id(data) in {record.id, None}
    assert b"\n" not in data


@given(calls | events, st.data())
def test_damaged_bytes_are_refused_or_still_a_record(record: ToolCallRecord | EventRecord, data: st.DataObject) -> None:
    """Cutting or changing bytes raises nothing but `UnreadableRecord`."""
    good = encode_record(record)
    bad = bytearray(good[: data.draw(st.integers(0, len(good)))])
    if bad:
        bad[data.draw(st.integers(0, len(bad) - 1))] = data.draw(st.integers(0, 255))
    try:
        decode_record(bytes(bad))
    except UnreadableRecord:
        return


def test_payload_bytes_are_spliced_and_stay_bytes() -> None:
    """Encoded payloads are copied as they are, and a decoded record holds bytes until somebody looks."""
    odd = Encoded(b'{"a": 1.50}')
    record = ToolCallRecord(tool="t", started_at=NOON, duration_ms=1.0, ok=True, mode="full", args=odd, result=Encoded(b"[1,2]"))
    data = encode_record(record)
    assert b'"args":{"a": 1.50},"result":[1,2]}' in data
    back = decode_record(data)
    found = encoded_payload(back, "args")
    assert found is not None
    assert found.data == odd.data
    assert isinstance(back, ToolCallRecord)
    assert back.args == {"a": 1.5}


@pytest.mark.parametrize(
    "value",
    [float("nan"), 2**70, "\ud800", "\0", b"\xff", NOON, {1: (2, 3)}, {"deep": [[[[[[[[{}]]]]]]]]}],
    ids=["nan", "2**70", "surrogate", "nul", "bytes", "datetime", "odd-key", "deep"],
)
@pytest.mark.parametrize("field", ["args", "extra", "identity"])
def test_values_outside_json_follow_the_safe_rule(field: str, value: Any) -> None:
    """A record built by hand comes back with what the JSON-safe rule makes of its values."""
    made: dict[str, Any] = {"tool": "t", "started_at": NOON, "duration_ms": 1.0, "ok": True, "mode": "full", field: {"v": value}}
    back = decode_record(encode_record(ToolCallRecord(**made)))
    assert getattr(back, field) == to_safe({"v": value}) == encode({"v": value}).decode()


def test_text_fields_with_surrogates_and_odd_types_are_made_safe() -> None:
    """Plain fields follow the rule, too; infinite durations stay numbers."""
    record = ToolCallRecord(tool="\ud83dx", started_at=NOON, duration_ms=float("inf"), ok=False, mode="meta", request_id=str(2**70))
    back = decode_record(encode_record(record))
    assert isinstance(back, ToolCallRecord)
    assert back.tool == "\\ud83dx"
    assert back.duration_ms == float("inf")
    assert back.request_id == str(2**70)


def test_a_time_without_a_zone_stays_without() -> None:
    """Nothing is guessed about a naive datetime."""
    naive = NOON.replace(tzinfo=None)
    back = decode_record(encode_record(EventRecord(kind="k", occurred_at=naive)))
    assert isinstance(back, EventRecord)
    assert back.occurred_at == naive


def test_fields_of_a_later_version_are_ignored() -> None:
    """An older process can read what a newer one left in a spool."""
    data = encode_record(EventRecord(kind="k", occurred_at=NOON, id="e", _derived=Derived(trace_id="t")))
    newer = data.replace(b'"t":"e",', b'"t":"e","mood":"good",').replace(b'"d":{', b'"d":{"flavour":1,')
    back = decode_record(newer)
    assert back == decode_record(data)
    assert back.trace_id == "t"


@pytest.mark.parametrize("data", [b"", b"{}", b"null", b'{"n":[99],"t":"e","attrs":{}}', b'{"n":[2],"t":"e","attrs":{}}', b'{"n":[2]x}'])
def test_other_bytes_are_refused(data: bytes) -> None:
    """What is not a record raises `UnreadableRecord`."""
    with pytest.raises(UnreadableRecord):
        decode_record(data)
