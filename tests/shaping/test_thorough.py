"""The thorough classifier: every rule by its examples, its switches, and results as servers return them."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.instrumentation import thorough_classifier
from fastmcp_feedback.shaping import thorough, thorough_texts
from fastmcp_feedback.shaping.classify import DEFAULT_RESULT_CLASSIFIER
from fastmcp_feedback.shaping.thorough_rules import RULES, Rule
from support.soft_results import FAILING, FAILING_TEXTS, FINE, FINE_TEXTS

CLASSIFY = thorough_classifier()
BY_NAME = {rule.name: rule for rule in RULES}


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.kind == "fails"], ids=lambda rule: rule.name)
def test_a_rule_decides_its_own_example(rule: Rule) -> None:
    """And no other rule takes it; switched off, the rule is silent."""
    found = CLASSIFY.explain(rule.failing)
    switch: dict[str, Any] = {rule.name: False}
    without = thorough_classifier(**switch).explain(rule.failing)

    assert found is not None
    assert found.rule == rule.name
    assert found.message == CLASSIFY("t", rule.failing)
    assert without is None or without.rule != rule.name


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_leaves_its_neighbour_alone(rule: Rule) -> None:
    """The other example looks like a failure and is none."""
    assert CLASSIFY.explain(rule.fine) is None


def test_a_true_flag_spares_what_other_rules_would_take() -> None:
    """Switched off, the error text decides."""
    rule = BY_NAME["flag_true"]

    assert CLASSIFY.explain(rule.failing) is None
    assert thorough_classifier(flag_true=False).explain(rule.failing) == thorough.Explanation(
        "error_text", f"error: {rule.failing['error']}"
    )


def test_json_inside_a_text_is_opened_to_the_other_rules() -> None:
    """The rule named is the one that decided inside; switched off, the text is a text."""
    rule = BY_NAME["json_text"]

    assert CLASSIFY.explain(rule.failing) == thorough.Explanation("error_text", "error: locked")
    assert thorough_classifier(json_text=False).explain(rule.failing) is None


def test_every_rule_has_examples_and_a_meaning() -> None:
    """The data is complete: each check and each group of patterns is a rule, each rule is one of these."""
    names = [rule.name for rule in RULES]
    known = {"status", "flag", "is_error", "flag_true", "error_text", "message_only", "envelope", "json_text"}

    assert len(names) == len(set(names))
    assert set(names) == known | thorough._DICT_CHECKS.keys() | set(thorough_texts.RULES)
    assert all(rule.about and rule.failing is not None and rule.fine is not None for rule in RULES)
    assert {rule.name for rule in RULES if rule.kind != "fails"} == {"flag_true", "json_text"}


@pytest.mark.parametrize("text", FAILING_TEXTS)
@pytest.mark.parametrize("wrap", [lambda t: {"result": t}, lambda t: [t], lambda t: {"content": [{"type": "text", "text": t}]}], ids="rcm")
def test_a_text_that_is_a_failure_is_one(text: str, wrap: Any) -> None:
    """As FastMCP wraps a string, as a content item, and as MCP content."""
    assert CLASSIFY("t", wrap(text))


@pytest.mark.parametrize("text", FINE_TEXTS)
@pytest.mark.parametrize("wrap", [lambda t: {"result": t}, lambda t: [t]], ids="rc")
def test_a_text_about_failures_is_none(text: str, wrap: Any) -> None:
    """Logs, reports, prose, code, figures and empty answers."""
    assert CLASSIFY.explain(wrap(text)) is None


@pytest.mark.parametrize("result", FAILING, ids=repr)
def test_a_dict_that_says_it_failed_has_failed(result: Any) -> None:
    """Also when it arrives as JSON text."""
    assert CLASSIFY("t", result)
    assert CLASSIFY("t", [json.dumps(result)])


@pytest.mark.parametrize("result", FINE, ids=repr)
def test_a_dict_that_mentions_failures_is_fine(result: Any) -> None:
    """Counts, records of failed jobs, flags of other things, and code."""
    assert CLASSIFY.explain(result) is None


@pytest.mark.parametrize("tool", ["search_logs", "tail"])
def test_exempt_tools_are_always_ok(tool: str) -> None:
    """Whatever they return; other tools are not touched."""
    classify = thorough_classifier(exempt_tools=("search_logs", "tail"))

    assert classify(tool, {"ok": False}) is None
    assert classify.explain({"ok": False}, tool=tool) is None
    assert classify("render", {"ok": False}) == "ok=False"


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"no_such_rule": False}, ValueError, "no rule 'no_such_rule'"),
        ({"exit_code": "off"}, TypeError, "exit_code='off'"),
        ({"exempt_tools": "tail"}, ValueError, r"such as \('tail',\)"),
    ],
    ids=repr,
)
def test_wrong_switches_are_refused(options: dict[str, Any], kind: type[Exception], words: str) -> None:
    """At construction, with what is allowed."""
    with pytest.raises(kind, match=words):
        thorough_classifier(**options)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ({"error": {"code": 7, "message": "queue is full"}}, "error: queue is full"),
        ({"errors": [{"message": "unknown field"}]}, "errors: unknown field"),
        ({"errors": {"size": ["is too big"]}}, "errors.size: is too big"),
        ({"detail": [{"loc": ["body", "size"], "msg": "field required"}]}, "detail: body.size: field required"),
        ({"statusCode": 503, "message": "come back later"}, "statusCode=503: come back later"),
        ({"exit_code": 2, "stderr": "bad flag"}, "exit_code=2: bad flag"),
        ({"type": "about:blank", "title": "Gone", "status": 410, "detail": "queue 3"}, "status=410: Gone: queue 3"),
        ({"results": [{"ok": False, "error": "locked"}]}, "results: all failed: locked"),
        ({"data": {"success": False, "error": "locked"}, "meta": {}}, "data.success=False: locked"),
        ({"result": "Error: queue is full"}, "text: Error: queue is full"),
    ],
    ids=repr,
)
def test_the_message_is_a_label_and_what_was_said(result: Any, message: str) -> None:
    """In the style of the default's messages."""
    assert CLASSIFY("t", result) == message


def test_only_the_beginning_of_a_large_result_is_looked_at() -> None:
    """A failure far inside a text, a list or a dict is data; its head still counts."""
    far = "all is well\n" * 100_000

    assert CLASSIFY("t", {"result": far + "Error: queue is full"}) is None
    assert CLASSIFY("t", {"result": "Error: queue is full\n" + "x" * 10**6}) is not None
    assert CLASSIFY("t", {**{f"k{i}": i for i in range(1000)}, "errorMessage": "queue is full"}) is None
    assert CLASSIFY("t", {"results": [{"ok": False, "error": "locked"}] * 50 + [{"ok": True}] * 1000}) is not None
    assert len(CLASSIFY("t", {"errorMessage": "x" * 10**6}) or "") < 70_000


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["Error: x", "failed", "404", '{"a":', "[1]"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "status",
                    "code",
                    "errors",
                    "result",
                    "results",
                    "error",
                    "message",
                    "detail",
                    "data",
                    "exit_code",
                    "type",
                    "failed",
                    "created",
                ]
            )
            | st.text(max_size=8),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(JSON)
def test_any_json_value_is_classified(result: Any) -> None:
    """None or a message that says something; the result is left as it was, and the default's failures stay failures."""
    before = repr(result)
    answer = CLASSIFY("t", result)

    assert answer is None or (isinstance(answer, str) and answer.strip())
    assert repr(result) == before
    said = DEFAULT_RESULT_CLASSIFIER("t", result)
    assert said is None or answer is not None or said.startswith("error: ")


def test_the_signature_shows_its_two_kinds_of_options() -> None:
    """Rules are switches by name."""
    assert list(inspect.signature(thorough_classifier).parameters) == ["exempt_tools", "switches"]
