"""Differences between results, by path."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from fastmcp_feedback.replay.differences import ABSENT, Difference, differences
from support.strategies import json_values


def test_each_place_is_named_with_both_sides() -> None:
    """Changed, gone and new values; true is not 1, but 1.0 is."""
    before = {"status": "failed", "n": 1, "flag": True, "items": [{"id": 1}, {"id": 2}], "old": None}
    after = {"status": "done", "n": 1.0, "flag": 1, "items": [{"id": 1}], "new": {"a": 1}}

    assert differences(before, after) == [
        Difference("$.status", "failed", "done"),
        Difference("$.flag", True, 1),
        Difference("$.items[1]", {"id": 2}, ABSENT),
        Difference("$.old", None, ABSENT),
        Difference("$.new", ABSENT, {"a": 1}),
    ]


def test_an_absent_side_is_left_out_of_json() -> None:
    """So that it cannot be taken for null."""
    assert Difference("$.old", None, ABSENT).to_dict() == {"path": "$.old", "before": None}


def test_the_list_is_bounded() -> None:
    """A result of another shape altogether does not flood the screen."""
    assert len(differences(list(range(1000)), list(range(1, 1001)))) == 50


@given(json_values, json_values)
def test_there_is_a_difference_exactly_when_values_differ(one: Any, other: Any) -> None:
    """Values compare as JSON text does, but for the form of numbers."""
    assert differences(one, one) == []
    if one != other:
        assert differences(one, other) != []
