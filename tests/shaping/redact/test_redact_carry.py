from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.shaping.redact.carry import CarryOver, covered_forms, worth_carrying
from fastmcp_feedback.shaping.redact.proof import find_secrets
from support.redact_examples import PASSWORD

SECRET_TEXTS = st.text(min_size=6, max_size=40).filter(worth_carrying)


@given(SECRET_TEXTS, st.text(max_size=20), st.text(max_size=20))
def test_a_carried_value_is_removed_from_texts_and_json(secret: str, before: str, after: str) -> None:
    """In a text, a JSON value, a JSON key and JSON inside JSON, and the bytes stay valid JSON."""
    carry = CarryOver.from_values([secret])
    kept = max(carry._values, key=len)
    assert kept not in carry.apply_text(before + secret + after).replace("[REDACTED]", "\0")
    value = {"a": [before + secret + after], secret: json.dumps({"x": secret})}
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    shown: Any = json.loads(carry.apply_json(data).decode("utf-8", "surrogatepass"))
    assert kept not in shown["a"][0].replace("[REDACTED]", "\0")


@pytest.mark.parametrize(
    "form", [str, quote_plus, lambda text: base64.b64encode(text.encode()).decode(), json.dumps, lambda text: json.dumps(json.dumps(text))]
)
def test_every_documented_form_is_covered(form: Any) -> None:
    """Plain, URL-encoded, base64 and escaped."""
    secret = 'pa"ss wörd/7&x'
    assert form(secret).strip('"\\') not in CarryOver.from_values([secret]).apply_text(f"got {form(secret)} here")


def test_parts_of_a_removed_value_are_carried() -> None:
    """The token behind a scheme, the password inside Basic, and each cookie."""
    packed = base64.b64encode(f"user:{PASSWORD}".encode()).decode()
    carry = CarryOver.from_values(["Bearer q7w8e9r0t1", f"Basic {packed}", "sid=abc123xyz; theme=light"])
    assert carry.apply_text(f"bad q7w8e9r0t1, {PASSWORD} and abc123xyz") == "bad [REDACTED], [REDACTED] and [REDACTED]"


@pytest.mark.parametrize("value", ["short", "password", "Production", "aaaaaaaa", "      ", "123456"])
def test_short_and_common_values_are_not_carried(value: str) -> None:
    """They stand everywhere in ordinary text."""
    carry = CarryOver.from_values([value])
    assert not carry
    assert carry.apply_text(f"x {value} y") == f"x {value} y"


def test_a_number_is_removed_and_the_json_stays_valid() -> None:
    """A digit value outside a string becomes a string; inside another number it does not matter."""
    carry = CarryOver.from_values(["68158469"])
    assert json.loads(carry.apply_json(b'{"n":68158469,"t":"id 68158469","m":1.5}')) == {"n": "[REDACTED]", "t": "id [REDACTED]", "m": 1.5}


def test_clean_bytes_are_the_same_object() -> None:
    """Nothing is copied when nothing is carried or found."""
    data = b'{"a":"plain words"}'
    assert CarryOver.from_values([]).apply_json(data) is data
    assert CarryOver.from_values([PASSWORD]).apply_json(data) is data


@given(st.lists(SECRET_TEXTS, min_size=1, max_size=3), st.text(max_size=30))
def test_the_sealed_form_removes_without_holding_the_value(secrets: list[str], around: str) -> None:
    """It knows keyed hashes only, and yet finds the value in a text."""
    carry = CarryOver.from_values(secrets)
    sealed = carry.seal()
    for secret in carry._values:
        assert secret not in sealed.apply_text(around + secret + around).replace("[REDACTED]", "\0")
    assert find_secrets([repr(sealed), sealed.fingerprints(), sealed._rolling], carry._values) == []
    assert bool(sealed) is bool(carry)


def test_forms_are_longest_first_so_that_no_half_is_left() -> None:
    """A value that contains another is removed whole."""
    carry = CarryOver.from_values(["abcdef12", "abcdef12-longer"])
    assert carry.apply_text("abcdef12-longer abcdef12") == "[REDACTED] [REDACTED]"
    assert covered_forms("abcdef12")[0] == "abcdef12"
