from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from typing import Any

from hypothesis import given

from fastmcp_feedback.web.json_view import MAX_DEPTH, MAX_NODES, json_text, json_view, plain_text
from support.strategies import hostile_text, json_values


def told(markup: str) -> str:
    """What a reader sees of the markup, which has to be well formed."""
    return "".join(ET.fromstring(f"<body>{markup.replace('<details open>', '<details>')}</body>").itertext())


@given(json_values)
def test_any_json_value_becomes_sound_markup(value: Any) -> None:
    """Only our own elements, and no character that could steer what shows it."""
    markup = str(json_view(value))

    assert {tag.lower() for tag in re.findall(r"<(\w+)", markup)} <= {"details", "summary", "ul", "li", "span"}
    assert all(character.isprintable() for character in told(markup))


@given(hostile_text)
def test_a_text_is_shown_as_json_writes_it(text: str) -> None:
    """What is shown can be read back."""
    shown = told(json_view(text))

    assert json.loads(re.sub(r"\\U([0-9a-f]{8})", lambda found: chr(int(found[1], 16)), shown)) == text


@given(hostile_text)
def test_recorded_text_cannot_steer_a_page(text: str) -> None:
    """Control characters and those that turn the direction of text are written out."""
    shown = told(plain_text(text))

    assert all(character.isprintable() or character in "\n\t" for character in shown)


def test_objects_fold_and_count_their_entries() -> None:
    """Outer levels stand open, long lists inside are folded."""
    markup = json_view({"rows": list(range(40)), "size": {"w": 1}})

    assert markup.count("<details open>") == 2
    assert markup.count("<details>") == 1
    assert '<span class="count">40</span>' in markup


def test_a_huge_value_is_cut_and_says_so() -> None:
    """A page stays small whatever was recorded."""
    markup = json_view(list(range(MAX_NODES * 2)))

    assert f"and {MAX_NODES + 1} more" in markup
    assert len(markup) < 400_000


def test_a_deep_value_is_cut_and_says_so() -> None:
    """Nesting ends before the reader's patience and the stack do."""
    value: Any = 1
    for _ in range(MAX_DEPTH * 20):
        value = [value]

    assert "[1 more]" in json_view(value)


def test_a_long_text_is_cut_and_says_so() -> None:
    """Its beginning is shown with the number of characters left out."""
    assert "and 10,000 more characters" in json_view("x" * 30_000)


def test_text_to_copy_is_left_out_when_it_is_long() -> None:
    """The page holds it once."""
    assert json_text({"a": 1}) == '{\n  "a": 1\n}'
    assert json_text("x" * 200_000) == ""
