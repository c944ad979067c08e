"""Recorded values as Python source: the same values, and nothing but values."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.replay.python_text import literal, slug, text_literal
from support.strategies import hostile_text, json_values


@given(json_values)
def test_a_literal_is_the_value(value: Any) -> None:
    """Whatever stands in it, Python reads the value back and runs nothing."""
    assert ast.literal_eval(literal(value)) == value


@given(hostile_text)
def test_a_text_literal_is_one_printable_line(text: str) -> None:
    """No line end, no direction mark, no control character gets into the source."""
    made = text_literal(text)

    assert ast.literal_eval(made) == text
    assert made.isprintable()


@given(hostile_text)
def test_a_slug_holds_letters_and_digits_only(text: str) -> None:
    """So that it can stand in a function's name."""
    assert re.fullmatch(r"[a-z0-9_]{0,48}", slug(text))


def test_a_redacted_place_becomes_a_placeholder_with_a_remark() -> None:
    """In keys and in texts, wherever they stand; the rest stays as it was."""
    text = literal({"scene": "big", "auth": {"header": "Bearer [REDACTED]"}, "list": [{"key": "[REDACTED]"}, 2]})

    assert ast.literal_eval(text) == {"scene": "big", "auth": {"header": "Bearer PLACEHOLDER"}, "list": [{"key": "PLACEHOLDER"}, 2]}
    assert text.count("# was redacted when it was recorded") == 2


def test_a_deep_value_is_read_from_json() -> None:
    """Python's parser gives up at many nested brackets."""
    value: Any = "bottom"
    for _ in range(230):
        value = {"a": [value]} if isinstance(value, str) else [value]
    text = literal(value)

    assert text.startswith("json.loads(")
    assert eval(text, {"json": json}) == value


@given(st.floats())
def test_a_number_that_json_cannot_hold_is_still_a_number(value: float) -> None:
    """A huge number in JSON text becomes infinity in Python."""
    assert str(eval(literal(value))) == str(value)
