from __future__ import annotations

# ruff: noqa: RUF001 - texts of other scripts
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastmcp_feedback.jsonsafe import dump_safe, loads
from fastmcp_feedback.shaping.redact import REDACTED, Redactor
from fastmcp_feedback.shaping.redact.keywords import DEFAULT_SUFFIXES, WEAK_WORDS
from fastmcp_feedback.shaping.redact.kinds import ALL, Kind
from fastmcp_feedback.shaping.redact.proof import find_secrets
from support.redact_examples import PASSWORD, PII, PLACES, SCALARS, SECRETS, WORDS, nested

REDACTOR = Redactor()
KEYS = st.one_of(WORDS, st.sampled_from([*DEFAULT_SUFFIXES, *WEAK_WORDS, "type", "kind", "data", "userPin", "X-Api-Key"]))
LEAVES = st.one_of(
    SCALARS,
    SECRETS,
    st.sampled_from(
        ["--password", "Authorization", "Secret", "password", f"token={PASSWORD}", f'"apiKey": "{PASSWORD}"', "密码：x9y8z7w6"]
    ),
)
VALUES = st.recursive(LEAVES, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)), max_leaves=15)


def _walked(value: Any) -> Any:
    return REDACTOR.walk(None).value(value)


@settings(max_examples=400)
@given(VALUES)
def test_the_fast_road_gives_what_the_walk_gives(value: Any) -> None:
    """Redacting JSON bytes equals redacting the decoded value, whatever the road."""
    data = dump_safe(value)
    expected = _walked(loads(data))
    assert loads(REDACTOR.redact_json(data)) == expected
    assert REDACTOR.redact(loads(data)) == expected


@settings(max_examples=200)
@given(VALUES)
def test_the_roads_agree_with_patterns_and_personal_data_too(value: Any) -> None:
    """A redactor with rules of the host's choice gives the same on both roads."""
    redactor = Redactor(pii=PII, extra_patterns=["tw[o]", r"\d{7}"], extra_keys=["status"])
    data = dump_safe(value)
    assert loads(redactor.redact_json(data)) == redactor.walk(None).value(loads(data))


PLANTS = st.one_of(
    LEAVES,
    VALUES,
    st.dictionaries(KEYS, LEAVES, min_size=1, max_size=3),
    st.builds(lambda name, value: {"value": value, "name": name}, KEYS, LEAVES),
    st.builds(lambda name, value: [name, value], KEYS, LEAVES),
    st.builds(lambda value: {"data": {"tls.crt": value}, "kind": "Secret"}, LEAVES),
    st.builds(lambda value: {"argv": ["deploy", "--api-key", value, "-v"]}, LEAVES),
    st.builds(lambda value: {"command": f"7z x a.7z; curl -u ada:{PASSWORD} http://h", "tokens": [value], "pin": 4711}, LEAVES),
)


def _rows(count: int) -> list[dict[str, Any]]:
    """Harmless rows with numbers, hashes, addresses, quotes and brackets in strings."""
    return [
        {
            "id": number,
            "score": number / 7.0,
            "ref": f"{number:08x}-0000-4000-a000-{number * 7919:012x}",
            "commit": f"{number * 104_729:040x}",
            "url": f"https://example.org/items/{number}?page={number}&sort=name#top",
            "note": 'The "quick" fox\\ [jumps] over {the} lazy dog\n',
            "tags": ["alpha", [], {}, None],
        }
        for number in range(count)
    ]


@settings(max_examples=150)
@given(st.lists(PLANTS, min_size=1, max_size=4), st.integers(1, 12), st.sampled_from([0, 0, 0, 160, 230]))
def test_secrets_planted_in_a_large_document_go_as_in_the_walk(plants: list[Any], gap: int, large: int) -> None:
    """What is repaired in its place equals the walk of the whole document, and the same values are told."""
    rows: list[Any] = _rows(gap * len(plants) + large)
    for place, plant in enumerate(plants):
        rows.insert(place * (gap + 1) + large // 2, {"row": plant} if place % 2 else plant)
    data = dump_safe({"status": "ok", "rows": rows})
    found: list[str] = []
    walked: list[str] = []
    expected = REDACTOR.walk(walked).value(loads(data))
    assert loads(REDACTOR.redact_json(data, found=found)) == expected
    assert set(found) == set(walked)


@given(st.integers(1, 60), st.sampled_from(["[", "{"]), st.integers(2, 34))
def test_the_fast_road_cuts_at_the_same_depth(depth: int, opener: str, limit: int) -> None:
    """`max_depth` means the same on both roads, whatever kind of container is nested."""
    value: Any = "x"
    for level in range(depth):
        value = [value] if (opener == "[") == bool(level % 2) else {"a": value}
    data = orjson.dumps([value, _rows(2)])
    redactor = Redactor(max_depth=limit)
    assert loads(redactor.redact_json(data)) == redactor.walk(None).value(loads(data))


@given(nested(SCALARS))
def test_a_clean_document_is_the_same_object(value: Any) -> None:
    """Nothing is copied when nothing changes."""
    data = dump_safe(value)
    assert REDACTOR.redact_json(data) is data


@settings(max_examples=200)
@given(VALUES)
def test_redaction_is_stable(value: Any) -> None:
    """A second pass changes nothing more."""
    once = REDACTOR.redact_json(dump_safe(value))
    assert REDACTOR.redact_json(once) == once


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.name)
def test_a_kind_planted_anywhere_is_gone(kind: Kind) -> None:
    """No form of the secret is left at any place of a value, and the removed value is told."""
    secret = kind.example(seed=3)
    for place in PLACES:
        value = place(secret)
        assert find_secrets(REDACTOR.redact(value), [secret]) == []
        found: list[str] = []
        assert find_secrets(REDACTOR.redact_json(orjson.dumps(value), found=found), [secret]) == []
        assert any(secret in item or item in secret for item in found)


def test_found_values_come_in_addition() -> None:
    """`found` keeps what it held and receives every removed leaf, numbers too."""
    found = ["before"]
    data = orjson.dumps({"password": {"a": "deep-one", "b": [123456, None, True]}, "note": f"token={PASSWORD}"})
    assert loads(REDACTOR.redact_json(data, found=found)) == {"password": REDACTED, "note": f"token={REDACTED}"}
    assert found[0] == "before"
    assert {"deep-one", "123456", PASSWORD} <= set(found)


def test_long_documents_breathe() -> None:
    """Work is cut into slices with a pause between them."""
    pauses: list[int] = []
    data = orjson.dumps([{"note": "plain words " * 50, "id": number} for number in range(600)])
    assert REDACTOR.redact_json(data, breathe=lambda: pauses.append(1)) is data
    assert len(pauses) >= len(data) // 48_000


def test_depth_counts_containers_not_brackets_in_strings() -> None:
    """Brackets inside strings do not make a document deep, real ones do."""
    flat = orjson.dumps({"a": "[[[[" * 20, "b": "]]]]", "c": ['"[', "{" * 50]})
    assert REDACTOR.redact_json(flat) is flat
    deep: Any = "x"
    for _ in range(40):
        deep = [deep]
    assert b"[TRUNCATED]" in REDACTOR.redact_json(orjson.dumps(deep))


def test_integers_beyond_64_bits_keep_their_digits() -> None:
    """A redacted document is not rounded."""
    data = b'{"n":123456789012345678901234567890,"password":"x"}'
    assert REDACTOR.redact_json(data) == b'{"n":123456789012345678901234567890,"password":"[REDACTED]"}'


def test_a_kubernetes_secrets_data_goes() -> None:
    """The data of an object of kind Secret is secret whatever its keys."""
    value = {"kind": "Secret", "data": {"tls": "aGVsbG8="}, "metadata": {"name": "db"}}
    assert REDACTOR.redact(value) == {"kind": "Secret", "data": REDACTED, "metadata": {"name": "db"}}
