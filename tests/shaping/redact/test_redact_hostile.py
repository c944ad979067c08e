from __future__ import annotations

# ruff: noqa: E501, RUF001 - texts of other scripts, many a line
import pytest

from fastmcp_feedback.shaping.redact import Redactor
from fastmcp_feedback.shaping.redact.kinds import ALL
from fastmcp_feedback.shaping.redact.rules import RULES
from support.redact_examples import PII, split

SIZE = 1_000_000
RULE_SIZE = 150_000  # there are many rules; work that grows faster than the text would still run into the limit
REDACTOR = Redactor(pii=PII)
PIECES = (
    "password ", "password=", 'password="', "token='", "密码：", "://a:", "user:", "a:b@tcp(", "-----BEGIN PRIVATE KEY-----\n", "$6$a$", "eyJaaaaa.", "sk-", "token|",
    "Cookie: ", "?code=", "&sig=a", "\\", '"', "[", "password: [", "key (", "--", "%22", "a@", "+49 1", "1234 ", "A", "a-", "token" + " " * 40, "identified by ",
)  # fmt: skip


def _fill(piece: str, size: int = SIZE) -> str:
    return (piece * (size // len(piece) + 1))[:size]


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_takes_long_texts_of_its_own_kind(rule: object) -> None:
    """The start, the example and the near miss repeated without end are done long before the test's limit."""
    before, secret, after = split(rule)  # type: ignore[arg-type]  # parametrize hands out rules
    for piece in {before or secret[:4], before + secret[:6], before + secret + after}:
        REDACTOR.redact_text(_fill(piece, RULE_SIZE))


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_every_kind_takes_a_megabyte_of_its_own_kind() -> None:
    """Starts and examples of all kinds, each repeated, then all of them mixed."""
    for kind in ALL:
        REDACTOR.redact_text(_fill(kind.prefixes[0])[:100_000])
        REDACTOR.redact_text(_fill(kind.example())[:100_000])
    REDACTOR.redact_text(_fill("".join(kind.prefixes[0] for kind in ALL)))
    REDACTOR.redact_text(_fill(" ".join(kind.example() for kind in ALL)))


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("piece", PIECES)
def test_a_megabyte_of_near_misses_is_linear(piece: str) -> None:
    """Pieces of syntax repeated without end do not pile up work."""
    REDACTOR.redact_text(_fill(piece))
