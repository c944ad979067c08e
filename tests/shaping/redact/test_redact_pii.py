from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.shaping.redact import REDACTED, Redactor
from fastmcp_feedback.shaping.redact.pii import iban_valid, luhn
from support.redact_examples import PII

ALL_GROUPS = Redactor(pii=PII)


def test_personal_data_stays_unless_asked_for() -> None:
    """The groups are opt-in, one by one."""
    text = "ada@example.com +44 20 7946 0018"
    assert Redactor().redact_text(text) == text
    assert Redactor(pii="email").redact_text(text) == f"{REDACTED} +44 20 7946 0018"
    assert Redactor(pii=["phone"]).redact_text(text) == f"ada@example.com {REDACTED}"


def test_an_unknown_group_is_refused_with_the_allowed_ones() -> None:
    """The error names what was wrong and what would be right."""
    with pytest.raises(ValueError, match=r"'mail'.*email, card, iban, phone, ssn"):
        Redactor(pii=["mail"])


@given(st.integers(10**14, 10**15 - 1))
def test_a_number_is_a_card_only_with_its_check_digit(body: int) -> None:
    """Exactly one last digit makes a number of a card issuer a card."""
    start = f"4{str(body)[1:]}"
    assert sum(luhn(f"{start}{digit}".encode()) for digit in range(10)) == 1
    right = next(f"{start}{digit}" for digit in range(10) if luhn(f"{start}{digit}".encode()))
    wrong = right[:-1] + str((int(right[-1]) + 1) % 10)
    assert Redactor(pii="card").redact_text(f"card {right} end") == f"card {REDACTED} end"
    assert Redactor(pii="card").redact_text(f"card {wrong} end") == f"card {wrong} end"


def test_a_card_as_a_number_goes_too() -> None:
    """JSON numbers are looked at when a group asks for it."""
    assert ALL_GROUPS.redact({"payment": {"number": 4539578763621486, "cvv": 123}}) == {"payment": {"number": REDACTED, "cvv": REDACTED}}


@pytest.mark.parametrize("text", ["GB33BUKB20201555555555", "DE89 3704 0044 0532 0130 00", "FR1420041010050500013M02606"])
def test_an_iban_goes_with_and_without_spaces(text: str) -> None:
    """The checksum holds, the words around stay."""
    assert iban_valid(text.encode())
    assert ALL_GROUPS.redact_text(f"pay {text} TODAY") == f"pay {REDACTED} TODAY"


@pytest.mark.parametrize(
    "text", ["+1 (555) 014-5920", "+44 20 7946 0018", "(555) 014-5920", "+15550104130", "555-014-5920", "030 1234 5678"]
)
def test_phone_numbers_go_in_usual_forms(text: str) -> None:
    """International, national and plain forms."""
    assert Redactor(pii="phone").redact_text(f"call {text}, please") == f"call {REDACTED}, please"


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-05 10:20",
        "v1.2.3",
        "1764545825123",
        "id 4f9c1e2d",
        "10.0.0.1",
        "978-3-16-148410-1",
        "git@github.com:acme/app.git",
        "order 12",
    ],
)
def test_numbers_that_are_no_personal_data_stay(text: str) -> None:
    """Dates, versions, times, addresses of machines and books."""
    assert ALL_GROUPS.redact_text(text) == text


def test_a_urls_password_is_no_part_of_an_address() -> None:
    """The host of a URL stays when e-mail addresses go."""
    assert ALL_GROUPS.redact_text("postgres://app:q7w8e9r0@db.example.com/x") == f"postgres://app:{REDACTED}@db.example.com/x"
