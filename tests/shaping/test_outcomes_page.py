"""The tables of docs/outcomes.md are those of the data."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fastmcp_feedback.shaping.failure import CATEGORIES
from fastmcp_feedback.shaping.thorough_rules import RULES
from support.paths import ROOT

PAGE = ROOT / "docs" / "outcomes.md"


def example(value: Any) -> str:
    """A result as it stands in a table."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"`{text.splitlines()[0].replace('|', '/')}`"


def rules_table() -> str:
    """The rules of the thorough classifier."""
    lines = ["| rule | what it finds | fails by it | stays ok |", "|---|---|---|---|"]
    for rule in RULES:
        failing = f"spared: {example(rule.failing)}" if rule.kind == "spares" else example(rule.failing)
        lines.append(f"| `{rule.name}` | {rule.about} | {failing} | {example(rule.fine)} |")
    return "\n".join(lines)


def categories_table() -> str:
    """Faults and categories."""
    lines = ["| fault | category | meaning |", "|---|---|---|"]
    lines += [f"| `{fault}` | `{name}` | {meaning} |" for fault, names in CATEGORIES.items() for name, meaning in names.items()]
    return "\n".join(lines)


@pytest.mark.parametrize(("name", "table"), [("rules", rules_table()), ("categories", categories_table())])
def test_a_table_of_the_page_is_current(name: str, table: str) -> None:
    """Between its two marks stands what the data gives; otherwise paste what the failure shows."""
    page = PAGE.read_text(encoding="utf-8")
    begin = page.index("-->\n", page.index(f"<!-- {name}:")) + len("-->\n")
    end = page.index(f"<!-- end of {name} -->")

    assert page[begin:end].strip() == table
