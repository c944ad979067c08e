"""Values longer than a pass looks at, and text in other scripts: removed whole, never cut in two, never an error."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.shaping.redact import Redactor

PLACES = {
    "pair": "password=%s next",
    "other words": "\u5bc6\u7801\uff1a%s \u540e",
    "cyrillic": "\u043f\u0430\u0440\u043e\u043b\u044c: %s \u0434\u0430\u043b\u044c\u0448\u0435",
    "at the end": "token=%s",
    "option": "deploy --password %s --fast",
    "quoted": "api_key: '%s'",
    "cookie": "Cookie: sid=%s; a=b",
}


def made_up(length: int) -> str:
    """A value that nothing else in the text resembles."""
    return "".join(random.Random(length).choices("abcdefghijkmnpqrstuvwxyzABCDEFGHJK23456789", k=length))


@pytest.mark.parametrize("length", [100, 500, 9_000, 20_000])
@pytest.mark.parametrize("place", PLACES)
def test_a_long_value_goes_whole(place: str, length: int) -> None:
    """No piece of twenty characters stays, however long the value is."""
    secret = made_up(length)
    shown = Redactor().redact_text(PLACES[place] % secret)
    assert not [at for at in range(0, length - 20, 7) if secret[at : at + 20] in shown]


@pytest.mark.parametrize("length", [100, 500, 1_900])
def test_a_long_password_in_a_url_goes_whole(length: int) -> None:
    """Tokens used as database passwords have this size."""
    secret = made_up(length)
    assert secret[:20] not in Redactor().redact_text(f"postgres://user:{secret}@db.example/x")


@given(
    st.lists(
        st.sampled_from(
            [
                "\u5bc6\u7801:",
                "\u7528\u6237",
                "\u043f\u0430\u0440\u043e\u043b\u044c:",
                "\ube44\ubc00\ubc88\ud638:",
                "abc123XYZ9",
                " ",
                "\U0001f511",
                "password=",
            ]
        ),
        max_size=60,
    )
)
def test_text_of_any_script_is_taken(parts: list[str]) -> None:
    """A place that goes never begins or ends inside a character."""
    Redactor().redact_text("".join(parts) * 3)
