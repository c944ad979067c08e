"""One JSON-safe rule, the sizes that go with it, and records that carry their private slot."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback import jsonsafe
from fastmcp_feedback.jsonsafe import Encoded, encode, encode_flat, encode_json_value, json_size, loads, to_safe
from fastmcp_feedback.records import CALL_FIELDS, EVENT_FIELDS, Derived, EventRecord, Failure, ToolCallRecord, encoded_payload
from support.odd_values import strict, values

# Without NUL, whose visible escape is one byte longer than JSON's own.
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0")) | st.text('aé€😀\x7f"\\\n,:{}[]/\x1f\u2028', max_size=60)
small = st.integers(-(2**63), 2**64 - 1)
# Floats apart from their exponent form, which may differ.
floats = st.floats(-1e4, 1e4, allow_nan=False).map(lambda f: round(f, 3))
leaves = st.none() | st.booleans() | small | floats | texts
json_values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=40)


def dumps_size(value: Any) -> int:
    """The size by the specification's own words."""
    return len(json.dumps(value, default=str))


@given(json_values)
def test_the_size_is_that_of_json_dumps(value: Any) -> None:
    """Counted from the compact bytes, without encoding again."""
    assert encode(value).size == dumps_size(value) == json_size(encode(value).data)
    assert encode_json_value(value).size == dumps_size(value)


@pytest.mark.parametrize("chunk_bytes", [1, 2, 3, 5, 8, 13])
@given(value=json_values)
def test_the_size_does_not_depend_on_where_chunks_end(chunk_bytes: int, value: Any) -> None:
    """In the middle of an escape, a character or a run of backslashes."""
    data, original = encode(value).data, jsonsafe._SIZE_CHUNK
    jsonsafe._SIZE_CHUNK = chunk_bytes
    try:
        assert json_size(data) == dumps_size(value)
    finally:
        jsonsafe._SIZE_CHUNK = original


@given(json_values)
def test_json_values_come_back_as_they_were(value: Any) -> None:
    """NUL apart, which becomes a visible escape."""
    assert encode(value).decode() == to_safe(value) == value


@given(values)
def test_any_value_becomes_json_that_every_reader_takes(value: Any) -> None:
    """Valid UTF-8, no NaN, no NUL, no lone surrogate; and the same again when encoded again."""
    encoded = encode(value)
    decoded = strict(encoded.data)
    assert decoded == to_safe(value) == encoded.decode() == loads(encoded.data)
    assert b"\\u0000" not in encoded.data.replace(b"\\\\", b"")
    assert encode(decoded).data == encoded.data
    assert encode_flat({"a": value}).data == encode({"a": value}).data


@given(values)
def test_the_size_of_odd_values_is_that_of_json_dumps_or_none(value: Any) -> None:
    """None where `json.dumps` refuses."""
    try:
        expected: int | None = dumps_size(value)
    except (TypeError, ValueError, RecursionError):
        expected = None
    found = encode(value).size
    exponents = "e" in json.dumps(to_safe(value)) or "E" in json.dumps(to_safe(value))
    assert found == expected or exponents


@pytest.mark.parametrize(
    ("value", "size"), [({"scene": "big"}, 16), ({"status": "failed", "error": "out of memory"}, 46), ([], 2), ("", 2)]
)
def test_sizes_of_the_specification(value: Any, size: int) -> None:
    """The two of the records page among them."""
    assert encode(value).size == size


def test_a_value_is_not_changed_and_is_encoded_as_it_was() -> None:
    """What happens to it afterwards does not show."""
    value = {"a": [1], "b": {1, 2}}
    encoded = encode(value)
    value["a"].append(2)  # type: ignore[attr-defined] # a list
    assert encoded.decode() == {"a": [1], "b": [1, 2]}
    assert value == {"a": [1, 2], "b": {1, 2}}


# -- records

DERIVED: Final = Derived(
    Failure("caller", "bad_arguments", "f1", ("scene",)), "session/1", "session", "parent", "t" * 32, "s" * 16, internal=True
)
WHEN: Final = datetime(2026, 10, 2, tzinfo=UTC)


def call() -> ToolCallRecord:
    """A call whose payloads are bytes."""
    return ToolCallRecord(
        "render", WHEN, 1.0, ok=True, mode="full", id="c1", args=Encoded(b'{"a":1}'), result=Encoded(b"[2]"), _derived=DERIVED
    )


def event() -> EventRecord:
    """An event whose attrs are bytes."""
    return EventRecord("step", WHEN, id="e1", attrs=Encoded(b'{"n":1}'), _derived=DERIVED)  # type: ignore[arg-type] # decoded when read


COPIES: Final[dict[str, Callable[[Any], Any]]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda record: pickle.loads(pickle.dumps(record)),
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("make", [call, event])
def test_copies_carry_the_private_slot(way: str, make: Any) -> None:
    """And every field; the slot shows neither in rows nor in dicts."""
    record = COPIES[way](make())
    assert record == make()
    assert record.derived == DERIVED
    assert (record.conversation_key, record.trace_id) == ("session/1", "t" * 32)
    assert list(record.to_row()) == list(record.to_dict()) == list(CALL_FIELDS if make is call else EVENT_FIELDS)


@pytest.mark.parametrize("make", [call, event])
def test_replace_carries_the_private_slot(make: Any) -> None:
    """`dataclasses.replace` changes one field and keeps the rest."""
    record = replace(make(), user_sub="ann")
    assert (record.user_sub, record.derived, record.id) == ("ann", DERIVED, make().id)


def test_a_record_built_without_the_slot_has_nothing_derived() -> None:
    """All of it is None."""
    record = ToolCallRecord("render", WHEN, 1.0, ok=True, mode="meta")
    assert (record.failure, record.fingerprint, record.conversation_key, record.trace_id, record.parent_call_id) == (None,) * 5
    assert record.internal is False


def test_payload_bytes_are_decoded_when_somebody_looks() -> None:
    """Until then our sinks have the bytes."""
    record = call()
    assert encoded_payload(record, "args") is not None
    assert (record.args, record.result) == ({"a": 1}, [2])
    assert encoded_payload(record, "args") is None
    assert replace(call(), ok=False).args == {"a": 1}
