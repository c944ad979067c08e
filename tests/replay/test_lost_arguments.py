"""Recorded arguments that are not what the tool got are named, place by place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fastmcp_feedback.instrumentation import Redactor
from fastmcp_feedback.replay.arguments import Lost, describe_lost, lost_arguments
from fastmcp_feedback.replay.schema import misfits
from support.strategies import json_values


@pytest.mark.parametrize(
    ("args", "lost", "words"),
    [
        (None, [Lost("$", "not recorded")], "its arguments were not recorded (mode meta)"),
        ({"_truncated": True, "size": 9, "preview": "{"}, [Lost("$", "truncated")], "too large and were truncated"),
        ({"a": {"b c": ["x", "[REDACTED]"]}}, [Lost("$.a['b c'][1]", "redacted")], "redacted when they were recorded: $.a['b c'][1]"),
        ({"dsn": "postgres://app:[REDACTED]@db/main"}, [Lost("$.dsn", "redacted")], "$.dsn"),
        ({"deep": "[TRUNCATED]"}, [Lost("$.deep", "truncated")], "truncated when they were recorded: $.deep"),
    ],
)
def test_a_lost_argument_is_named_with_its_path_and_reason(args: Any, lost: list[Lost], words: str) -> None:
    """Redacted in whole or in part, cut by depth or size, or never recorded."""
    found = lost_arguments({"args": args})

    assert found == lost
    assert words in describe_lost(found)


@given(st.dictionaries(st.text(max_size=8), json_values, max_size=5))
def test_arguments_that_redaction_left_alone_are_whole(args: dict[str, Any]) -> None:
    """Nothing is lost exactly when the redactor changed nothing (a mark in the arguments themselves cannot be told from one of ours)."""
    assume("[REDACTED" not in str(args))
    redacted = Redactor().redact(args)

    assert (lost_arguments({"args": redacted}) == []) is (redacted == args)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"n": 1, "name": "x"}, []),
        ({"n": 1.0, "name": None}, ["'name' must be of type string"]),
        ({"n": True, "name": "x"}, ["'n' must be of type integer"]),
        ({"name": "x", "old": 1}, ["'n' is required and was not given", "'old' is not an argument of the tool"]),
    ],
)
def test_a_misfit_is_a_sentence(args: dict[str, Any], words: list[str]) -> None:
    """Missing, unknown and of another type; a whole float is an integer, a boolean is not."""
    schema = {
        "properties": {"n": {"type": "integer"}, "name": {"type": "string"}, "any": {"anyOf": []}},
        "required": ["n"],
        "additionalProperties": False,
    }

    assert misfits(schema, args) == words
