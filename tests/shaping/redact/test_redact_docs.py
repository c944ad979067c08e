from __future__ import annotations

from pathlib import Path

from fastmcp_feedback.shaping.redact.docs import render
from fastmcp_feedback.shaping.redact.kinds import ALL
from fastmcp_feedback.shaping.redact.rules import RULES
from fastmcp_feedback.shaping.redact.urls import WEBHOOKS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "redaction.md"


def test_the_page_is_made_from_the_rules() -> None:
    """`docs/redaction.md` is what `tools/gen_redaction_docs.py` writes today."""
    assert PAGE.read_text(encoding="utf-8") == render()


def test_every_rule_and_kind_is_documented() -> None:
    """Each has its row, with an example and a near miss or an address."""
    page = render()
    assert all(f"| `{rule.name}` |" in page for rule in RULES)
    assert all(f"| {kind.name} |" in page and kind.where in page for kind in ALL)


def test_every_rule_name_that_the_engine_gives_is_a_rule() -> None:
    """No place is removed by a rule that the page does not name."""
    names = {rule.name for rule in RULES} | {kind.name for kind in ALL}
    assert {name for _pattern, name in WEBHOOKS.values()} <= names


def test_no_example_on_the_page_is_a_whole_token() -> None:
    """The page would pass a scanner: vendor examples are shortened."""
    page = render()
    assert not [kind.name for kind in ALL if kind.example() in page]
