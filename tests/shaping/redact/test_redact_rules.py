from __future__ import annotations

# ruff: noqa: E501, RUF001 - texts of other scripts, many a line
import json

import pytest

from fastmcp_feedback.shaping.redact import REDACTED, Redactor
from fastmcp_feedback.shaping.redact.explain import explain
from fastmcp_feedback.shaping.redact.kinds import ALL, Kind
from fastmcp_feedback.shaping.redact.rules import RULES, Rule
from support.redact_examples import PASSWORD, PII, kind_examples, split, text_rules

PLAIN = Redactor()
WIDE = Redactor(extra_patterns=[r"ACME-[0-9]{6}"], pii=PII)


def _redactor(rule: Rule) -> Redactor:
    return WIDE if rule.name in {*PII, "host-pattern"} else PLAIN


@pytest.mark.parametrize("rule", text_rules(), ids=lambda rule: rule.name)
def test_a_rule_removes_its_example_and_nothing_around_it(rule: Rule) -> None:
    """Only the marked part goes, by this rule, and doing it twice changes nothing more."""
    before, secret, after = split(rule)
    redactor = _redactor(rule)
    clean = redactor.redact_text(before + secret + after)
    assert clean == before + REDACTED + after
    assert rule.name in {finding.rule for finding in explain(before + secret + after, redactor)}
    assert redactor.redact_text(clean) == clean


@pytest.mark.parametrize("rule", text_rules(), ids=lambda rule: rule.name)
def test_a_rule_leaves_its_near_miss_alone(rule: Rule) -> None:
    """The harmless text that looks alike comes through unchanged."""
    assert _redactor(rule).redact_text(rule.near_miss) == rule.near_miss


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule not in text_rules()], ids=lambda rule: rule.name)
def test_a_structure_rule_removes_its_example(rule: Rule) -> None:
    """In a structure the marked value goes and the near miss stays."""
    value = json.loads(rule.example.replace("«", "").replace("»", ""))
    assert json.dumps(PLAIN.redact(value)) == "".join((split(rule)[0], REDACTED, split(rule)[2]))
    assert rule.name in {finding.rule for finding in explain(value)}
    assert PLAIN.redact(json.loads(rule.near_miss)) == json.loads(rule.near_miss)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.name)
def test_a_kind_goes_wherever_it_stands(kind: Kind) -> None:
    """In a sentence, in quotes, beside other scripts, in a URL-encoded text, as value and as key."""
    for example in kind_examples(kind):
        assert PLAIN.redact_text(f"use {example} on staging") == f"use {REDACTED} on staging"
        assert PLAIN.redact_text(f'VALUE = "{example}"\nnext') == f'VALUE = "{REDACTED}"\nnext'
        assert PLAIN.redact({"rows": [{"text": example}]}) == {"rows": [{"text": REDACTED}]}
        assert PLAIN.redact({example: 1}) == {REDACTED: 1}


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.name)
def test_a_kinds_start_alone_is_no_secret(kind: Kind) -> None:
    """The name of a format in prose stays."""
    assert PLAIN.redact_text(kind.near_miss()) == kind.near_miss()


def test_kinds_are_many_and_told_apart() -> None:
    """At least 150 kinds, each with its own name and an address where it is published."""
    names = [kind.name for kind in ALL]
    assert len(ALL) >= 150
    assert len(set(names)) == len(names)
    assert all(kind.where.startswith("https://") for kind in ALL)


TEXTS = (
    "export API_TOKEN='{}'", "API_KEY: {} # prod", "mysql --password={} app", "deploy --token {}", '{{"password": "{}", "n": 1}}', "'secretKey': '{}'",
    '{{\\"apiKey\\": \\"{}\\"}}', "client_secret={}&grant_type=x", "Server=db;User Id=sa;Password={};Encrypt=True", "jdbc:postgresql://db/app?user=a&password={}",
    "<password>{}</password>", '<add key="ApiKey" value="{}" />', "| password | {} |", "**Password:** {}", "The password is {} now", "password: `{}`.",
    "define('DB_PASSWORD', '{}');", "os.environ['API_KEY'] = '{}'", "headers['Authorization'] = 'Bearer {}'", "X-Vault-Token: {}\r\nAccept: */*",
    "curl -u svc:{} https://x.example.com", "sshpass -p {} ssh x", "redis-cli -a {} ping", "redis://:{}@cache:6379/0", "svc:{}@tcp(db:3306)/app",
    "//registry.npmjs.org/:_authToken={}", "machine x login y password {}", "Cookie: a={}; Path=/", "const apiKey = `{}`;", 'obj.setPassword("{}");',
    "password = '''{}'''", "- name: API_TOKEN\n  value: {}", "helm --set auth.password={} x", "密码：{}", "contraseña: {}", "“password”: “{}”",
    "password%22%3A%22{}%22", "body=%7B%22token%22%3A%22{}%22%7D", "Authorization: {}", "Proxy-Authorization: Basic {}", "token={}, next",
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_a_value_behind_a_secret_word_goes_in_every_form(text: str) -> None:
    """Assignments, headers, commands, markup, prose and encoded forms all lose the value, and keep the rest."""
    assert PASSWORD not in PLAIN.redact_text(text.format(PASSWORD))
    assert PLAIN.redact_text(text.format(PASSWORD)).replace(REDACTED, PASSWORD) == text.format(PASSWORD)


@pytest.mark.parametrize("odd", ["p@ss,w0rd!x", "a9;b8&c7|d6", "x(y)z9$", "q'w8e9r", "st&r#2024!"])
def test_a_password_with_punctuation_goes_whole(odd: str) -> None:
    """No half of it is left behind."""
    assert PLAIN.redact_text(f"password={odd} next") == f"password={REDACTED} next"


def test_a_text_in_an_escaped_json_string_is_a_text() -> None:
    """JSON inside JSON inside JSON is looked at."""
    inner = json.dumps({"raw": json.dumps({"apiKey": PASSWORD, "n": 1})})
    assert PASSWORD not in PLAIN.redact_text(inner)
    assert PASSWORD not in json.dumps(PLAIN.redact({"result": inner}))


def test_redaction_comes_before_any_cut() -> None:
    """A secret at the end of a long text is found."""
    text = "lorem ipsum " * 20_000 + f"password={PASSWORD}"
    assert PLAIN.redact_text(text).endswith(f"password={REDACTED}")


@pytest.mark.parametrize("offset", range(47_960, 48_040, 7))
def test_a_secret_across_the_edge_of_a_slice_goes(offset: int) -> None:
    """Long texts are worked on in slices of 48,000 bytes; nothing is missed at an edge."""
    token = "gh" + "p_" + "a7Q2" * 9
    for secret, text in ((token, f" {token} "), (PASSWORD, f" password={PASSWORD} ")):
        filled = "." * offset + text + "." * 60_000
        assert PLAIN.redact_text(filled) == filled.replace(secret, REDACTED)
