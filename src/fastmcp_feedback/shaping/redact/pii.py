"""Personal data, group by group, off unless asked for. Cards are checked by Luhn, IBANs by their checksum."""

from __future__ import annotations

# ruff: noqa: E501 - alternatives of one pattern
import re
from collections.abc import Callable
from typing import Final

from .spans import Span

_EMAIL: Final = re.compile(
    rb"(?<![\w.+%\-])(?<!//)(?!git@)[\w.+%\-]{1,64}+@(?:[A-Za-z0-9](?:[A-Za-z0-9\-]{0,62})\.){1,8}[A-Za-z]{2,24}(?![\w\-])"
)
_CARD: Final = re.compile(
    rb"(?<![\w.\-])[2-6]\d{3}(?:[ \-]?\d{4}){2}[ \-]?\d{1,7}(?![\w\-])|(?<![\w.\-])3[47]\d{2}[ \-]?\d{6}[ \-]?\d{5}(?![\w\-])|(?<![\w.\-])3[068]\d{2}[ \-]?\d{6}[ \-]?\d{4}(?![\w\-])"
)
_IBAN: Final = re.compile(rb"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])")
_PHONE: Final = re.compile(
    rb"(?<![\w.+])\+[1-9]\d{0,3}[ .\-]?(?:\(\d{1,5}\)[ .\-]?)?\d{1,5}(?:[ .\-]?\d{2,5}){1,4}(?!\w)"
    rb"|(?<![\w.+\-])(?:\(\d{3}\) ?|\d{3}[ .\-])\d{3}[ .\-]\d{4}(?![\w\-])"
    rb"|(?<![\w.+\-])\d{3}-\d{4}-\d{4}(?![\w\-])|(?<![\w.+\-])0\d{1,4}[ /\-]\d{3,5}[ \-]?\d{2,5}(?:[ \-]?\d{2,4})?(?![\w\-])"
)
_SSN: Final = re.compile(rb"(?<![\w\-])(?!000|666|9\d\d)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\w\-])")
_NOT_DIGIT: Final = bytes(byte for byte in range(256) if not 0x30 <= byte <= 0x39)
_IBAN_LENGTHS: Final = {b"NO": 15, b"BE": 16, b"DK": 18, b"FI": 18, b"NL": 18, b"AT": 20, b"CH": 21, b"DE": 22, b"GB": 22, b"IE": 22, b"ES": 24, b"SE": 24, b"FR": 27, b"IT": 27, b"PL": 28}  # fmt: skip


def luhn(digits: bytes) -> bool:
    """The check sum of payment cards.

    >>> luhn(b"4539578763621486"), luhn(b"4539578763621487")
    (True, False)
    """
    total = 0
    for place, char in enumerate(reversed(digits)):
        digit = char - 0x30
        if place % 2:
            digit = digit * 2 - 9 if digit > 4 else digit * 2
        total += digit
    return total % 10 == 0


def iban_valid(text: bytes) -> bool:
    """The checksum (ISO 13616, modulo 97) and, where known, the country's length.

    >>> iban_valid(b"GB33BUKB20201555555555"), iban_valid(b"GB33BUKB20201555555556")
    (True, False)
    """
    plain = text.replace(b" ", b"")
    if not 15 <= len(plain) <= 34 or _IBAN_LENGTHS.get(plain[:2], len(plain)) != len(plain):
        return False
    turned = (plain[4:] + plain[:4]).decode("ascii")
    return int("".join(str(int(char, 36)) for char in turned)) % 97 == 1


def _emails(data: bytes) -> list[Span]:
    if b"@" not in data:
        return []
    return [(*found.span(), "email") for found in _EMAIL.finditer(data)]


def _cards(data: bytes) -> list[Span]:
    out: list[Span] = []
    for found in _CARD.finditer(data):
        digits = found[0].translate(None, _NOT_DIGIT)
        if 13 <= len(digits) <= 19 and luhn(digits):
            out.append((*found.span(), "card"))
    return out


def _ibans(data: bytes) -> list[Span]:
    out: list[Span] = []
    for found in _IBAN.finditer(data):
        text = found[0]
        while len(text) >= 15:  # a word behind the number may have been taken for its last group
            if iban_valid(text):
                out.append((found.start(), found.start() + len(text), "iban"))
                break
            text = text.rpartition(b" ")[0]
    return out


def _phones(data: bytes) -> list[Span]:
    return [(*found.span(), "phone") for found in _PHONE.finditer(data) if 7 <= len(found[0].translate(None, _NOT_DIGIT)) <= 15]


def _ssns(data: bytes) -> list[Span]:
    return [(*found.span(), "ssn") for found in _SSN.finditer(data)]


GROUPS: Final[dict[str, Callable[[bytes], list[Span]]]] = {"email": _emails, "card": _cards, "iban": _ibans, "phone": _phones, "ssn": _ssns}
_DIGIT_GROUPS: Final = frozenset(("card", "iban", "phone", "ssn"))


def chosen(groups: object) -> tuple[str, ...]:
    """The wanted groups, in their fixed order. Raises ValueError naming an unknown one and the allowed ones."""
    wanted = [groups] if isinstance(groups, str) else list(groups) if isinstance(groups, (list, tuple, set, frozenset)) else [repr(groups)]
    for name in wanted:
        if name not in GROUPS:
            allowed = ", ".join(GROUPS)
            raise ValueError(f"unknown group of personal data {name!r}; allowed: {allowed}")
    return tuple(name for name in GROUPS if name in wanted)


def spans(data: bytes, groups: tuple[str, ...]) -> list[Span]:
    """Personal data of these groups in a text."""
    out: list[Span] = []
    for name in groups:
        if name not in _DIGIT_GROUPS or _FOUR_DIGITS.search(data):
            out += GROUPS[name](data)
    return out


_FOUR_DIGITS: Final = re.compile(rb"\d{2}")
