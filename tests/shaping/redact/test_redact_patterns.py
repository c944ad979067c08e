from __future__ import annotations

import builtins
import re
from typing import Any

import pytest

from fastmcp_feedback.shaping.redact import REDACTED, Redactor

SAFE = (
    r"ACME-\d{6}",
    r"[a-z]+@corp",
    r"(?:[a-z]+\.)+internal",
    r"\bEMP\d{4,8}\b",
    r"(?i)ticket-(?P<secret>\w+)",
    r"a{2,5}b",
    r"x|y|z",
    r".{3}Q",
    r"^\s*pin: \d+$",
)
UNSAFE = (r"(a+)+$", r"(a|aa)+$", r"(.*,){12}x", r"(\w+\s?)*$", r".*.*=.*", r"(\d+)\1", r"(?:a*)*b", r"\s*\s*x{100,}", r"(x+x+)+y")


@pytest.fixture
def without_re2(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if google-re2 were not installed."""
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "re2":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    monkeypatch.setattr("fastmcp_feedback.shaping.redact.patterns.importlib.import_module", refuse)


@pytest.mark.parametrize("pattern", SAFE)
@pytest.mark.usefixtures("without_re2")
def test_a_linear_pattern_is_taken(pattern: str) -> None:
    """Strings and compiled patterns alike."""
    Redactor(extra_patterns=[pattern])
    Redactor(patterns=[re.compile(pattern)])


@pytest.mark.parametrize("pattern", UNSAFE)
@pytest.mark.usefixtures("without_re2")
def test_a_pattern_that_could_backtrack_without_bound_is_refused(pattern: str) -> None:
    """The error names the pattern and the extra that would make it safe."""
    with pytest.raises(ValueError, match=r"backtrack") as caught:
        Redactor(extra_patterns=[pattern])
    assert repr(pattern) in str(caught.value)
    assert "fastmcp-feedback[fast]" in str(caught.value)


@pytest.mark.parametrize("pattern", ["(", "[a", "*", "(?P<x", 12, None])
def test_a_pattern_that_does_not_compile_is_refused(pattern: Any) -> None:
    """The error names the pattern."""
    with pytest.raises(ValueError, match=re.escape(repr(pattern))):
        Redactor(extra_patterns=[pattern])


def test_a_dangerous_pattern_runs_with_re2() -> None:
    """With google-re2 it is linear and does what it says."""
    pytest.importorskip("re2")
    redactor = Redactor(extra_patterns=[r"(a+)+b"])
    assert redactor.redact_text("x aaab y") == f"x {REDACTED} y"
    assert redactor.redact_text("a" * 100_000) == "a" * 100_000


def test_a_group_named_secret_says_what_goes() -> None:
    """The rest of the match stays."""
    assert Redactor(extra_patterns=[r"ticket-(?P<secret>\d+)"]).redact_text("see ticket-4711 é") == f"see ticket-{REDACTED} é"


def test_host_patterns_hold_in_values_keys_and_numbers() -> None:
    """They are text rules like the built-in ones, also beside characters of several bytes."""
    redactor = Redactor(extra_patterns=[r"EMP\d{6}"])
    assert redactor.redact({"é EMP123456": ["ü EMP654321 ü"]}) == {f"é {REDACTED}": [f"ü {REDACTED} ü"]}


def test_patterns_replace_the_built_in_shapes() -> None:
    """With `patterns`, vendor tokens stay, and what a secret word announces still goes."""
    token = "gh" + "p_" + "a7Q2" * 9
    assert Redactor(patterns=[]).redact_text(f"x {token} password=hunter2") == f"x {token} password={REDACTED}"


def test_a_host_pattern_is_found_across_pieces_of_a_long_text() -> None:
    """Long texts are looked at in overlapping pieces."""
    redactor = Redactor(extra_patterns=[r"EMP\d{6}"])
    for offset in range(8_180, 8_200):
        text = "." * offset + "EMP123456" + "." * 9_000
        assert redactor.redact_text(text) == text.replace("EMP123456", REDACTED)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"replacement": 3}, "replacement must be text, not 3"), ({"max_depth": "deep"}, "max_depth must be a whole number, not 'deep'")],
)
def test_an_option_of_a_wrong_kind_is_named(options: dict[str, Any], message: str) -> None:
    """When the redactor is made, not when the first secret comes."""
    with pytest.raises(TypeError, match=message):
        Redactor(**options)
