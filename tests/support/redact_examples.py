"""Made-up secrets and values for the redaction tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from fastmcp_feedback.shaping.redact.kinds import ALL, Kind
from fastmcp_feedback.shaping.redact.rules import RULES, Rule

PASSWORD = "Zq8xT4mK" + "w2Vb7Rn"
PII = ("email", "card", "iban", "phone", "ssn")
STRUCTURE_RULES = frozenset(("secret-key", "command-flag"))


def split(rule: Rule) -> tuple[str, str, str]:
    """The text before the secret of a rule's example, the secret, and the text after it."""
    before, rest = rule.example.split("«")
    secret, after = rest.split("»")
    return before, secret, after


def text_rules() -> list[Rule]:
    """Rules that speak about texts."""
    return [rule for rule in RULES if rule.name not in STRUCTURE_RULES]


def kind_examples(kind: Kind) -> list[str]:
    """One made-up value for every start of a kind."""
    return [kind.example(at) for at in range(len(kind.prefixes))]


_EXAMPLES = [kind.example() for kind in ALL]
# Drawn by number: a strategy that lists all texts writes them all into every message about itself.
SECRETS = st.integers(0, len(_EXAMPLES) - 1).map(_EXAMPLES.__getitem__)
WORDS = st.sampled_from(
    ["status", "ok", "two words", "max_tokens", "author", "é", 'quo"te', "back\\slash", "line\nbreak", "name", "value", ""]
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-(10**12), 10**12), st.floats(allow_nan=False, allow_infinity=False), WORDS)


def nested(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Nested JSON values with these leaves."""
    return st.recursive(
        leaves, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(WORDS, inner, max_size=4)), max_leaves=12
    )


PLACES: tuple[Callable[[str], Any], ...] = (
    lambda secret: secret,
    lambda secret: {"a": {"b": [1, secret]}},
    lambda secret: {"text": f"see {secret} (rotate)"},
    lambda secret: {secret: {"calls": 3}},
    lambda secret: ["x", f'{{"value": "{secret}"}}'],
    lambda secret: {"rows": [{"note": f"line 1\n{secret}\nline 3"}]},
    lambda secret: (1, {"deep": (secret,)}),
    lambda secret: {"url": f"https://api.example.com/?q=x&token={secret}&page=2"},
)
