from __future__ import annotations

import json
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.shaping.redact import Redactor
from support.redact_examples import PASSWORD, SCALARS, nested

REDACTOR = Redactor()


@given(nested(SCALARS))
def test_a_whole_document_is_shown_as_json_dumps_writes_it(value: Any) -> None:
    """Without a cut the head is the JSON text."""
    data = orjson.dumps(value)
    if data[:1] in b'[{"':
        assert REDACTOR.redact_head(data, 10**6) == json.dumps(REDACTOR.redact(json.loads(data)))


@given(nested(SCALARS), st.integers(0, 400))
def test_a_cut_document_is_a_beginning_of_the_whole(value: Any, cut: int) -> None:
    """What is shown of a cut document is how the whole one begins, apart from brackets that close it."""
    data = orjson.dumps(value)
    whole = json.dumps(json.loads(data))
    shown = REDACTOR.redact_head(data[:cut], 10**6)
    assert whole.startswith(shown)


def test_a_value_at_the_edge_is_dropped() -> None:
    """A string, number or key that the edge cuts is not shown in part."""
    data = orjson.dumps({"a": 1, "b": "twenty-seven", "c": 12345})
    assert REDACTOR.redact_head(data[:14], 100) == '{"a": 1'
    assert REDACTOR.redact_head(data[:-3], 100) == '{"a": 1, "b": "twenty-seven"'


def test_a_secret_is_never_shown_in_part() -> None:
    """Wherever the edge falls, no piece of a secret key's value or of a token stands in the preview."""
    token = "gh" + "p_" + "a7Q2" * 9
    data = orjson.dumps({"rows": ["plain"] * 3, "password": PASSWORD, "note": f"words before {token} and words after " * 3})
    for cut in range(len(data)):
        shown = REDACTOR.redact_head(data[:cut], 10_000)
        assert PASSWORD[:4] not in shown
        assert token[:8] not in shown


def test_a_long_text_is_shown_up_to_a_gap_before_the_edge() -> None:
    """The preview of one huge text is its beginning."""
    data = orjson.dumps({"status": "ok", "text": "hello world " * 10_000})
    assert REDACTOR.redact_head(data[:8_000], 1_000) == json.dumps({"status": "ok", "text": "hello world " * 10_000})[:1_000]
    blob = orjson.dumps({"rows": ["x" * 200_000]})
    assert REDACTOR.redact_head(blob[:16_384], 1_000) == '{"rows": ["' + "x" * 989
