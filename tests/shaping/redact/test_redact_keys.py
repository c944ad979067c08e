from __future__ import annotations

# ruff: noqa: E501 - one key beside another
import pytest

from fastmcp_feedback.shaping.redact import REDACTED, Redactor
from fastmcp_feedback.shaping.redact.keywords import DEFAULT_SUFFIXES, WEAK_WORDS

SECRET_KEYS = (
    "password", "PASSWORD", "dbPassword", "db-password", "db.password", "db password", "X-Api-Key", "apiKey", "apikey", "API KEY", "clientSecret",
    "client_secret_key", "AWSSecretAccessKey", "refreshToken", "Authorization", "Proxy-Authorization", "Set-Cookie", "cookies", "credentials",
    "privateKey", "ssh_private_key", "signing_secret", "MYSQL_PWD", "smtp_pass", "password_hash", "api_key_prod", "SECRET_KEY_BASE", "password2",
    "user_passwd", "oauth2:client_secret", "spring.datasource.password", "jwt", "otp", "access_tokens", "connectionString", "密码", "contraseña",
)  # fmt: skip
PLAIN_KEYS = (
    "max_tokens", "input_tokens", "total_tokens", "next_page_token", "continuationToken", "nextSyncToken", "token_type", "token_url", "token_count",
    "tokenizer", "author", "authority", "authenticated", "auth_method", "secretary", "secret_name", "secret_arn", "password_policy", "passwordChangedAt",
    "key", "keys", "primary_key", "sort_key", "public_key", "api_key_id", "api_key_name", "monkey", "keyboard", "bypass", "compass", "cookie_policy",
    "session_id", "credential_type", "has_password", "requireToken", "progressToken", "cursor", "", "_",
)  # fmt: skip


@pytest.mark.parametrize("key", SECRET_KEYS)
def test_a_secret_key_is_known_whatever_its_spelling(key: str) -> None:
    """The value under the key goes whole, and the key stays."""
    assert Redactor().is_secret_key(key)
    assert Redactor().redact({"a": [{key: "plain words"}]}) == {"a": [{key: REDACTED}]}


@pytest.mark.parametrize("key", PLAIN_KEYS)
def test_a_key_that_only_mentions_a_secret_stays(key: str) -> None:
    """Neither the key nor the value under it changes."""
    assert not Redactor().is_secret_key(key)
    assert Redactor().redact({key: "CAEQAA"}) == {key: "CAEQAA"}


@pytest.mark.parametrize("value", [1, 0, 1.5, True, False, "", "x", [], {}, ["a", None], {"a": {"b": 1}}, 10**30])
def test_a_secret_keys_value_goes_whole(value: object) -> None:
    """Any type of value but None becomes the replacement."""
    assert Redactor().redact({"password": value}) == {"password": REDACTED}


def test_none_stays_none_under_a_secret_key() -> None:
    """There is nothing to hide in None."""
    assert Redactor().redact({"password": None, "x": [{"token": None}]}) == {"password": None, "x": [{"token": None}]}


@pytest.mark.parametrize(
    "value",
    [
        "${DB_PASSWORD}",
        "{{ password }}",
        "<password>",
        "$DB_PASSWORD",
        "expired",
        "weak",
        {"type": "string", "description": "the token"},
        {"secretKeyRef": {"name": "db"}},
    ],
)
def test_what_speaks_about_a_secret_stays(value: object) -> None:
    """References, statuses and schemas hold no secret."""
    assert Redactor().redact({"password": value}) == {"password": value}


def test_a_schema_default_is_no_schema_word() -> None:
    """What a schema gives as default or example of a secret goes."""
    schema = {"type": "string", "default": "hunter2", "description": "x"}
    assert Redactor().redact({"token": schema}) == {"token": {"type": "string", "default": REDACTED, "description": "x"}}


@pytest.mark.parametrize("suffix", DEFAULT_SUFFIXES)
def test_every_built_in_ending_is_found_on_the_fast_road(suffix: str) -> None:
    """A document with such a key is walked, not taken for clean."""
    assert Redactor().redact({suffix: ["plain"]}) == {suffix: REDACTED}


@pytest.mark.parametrize("word", sorted(WEAK_WORDS - {"key", "pin"}))
def test_a_weak_word_counts_when_the_value_looks_random(word: str) -> None:
    """`auth: oauth2` stays, `auth: <random>` goes."""
    random = "q7Zk" * 6
    assert Redactor().redact({word: random, "x": 1}) == {word: REDACTED, "x": 1}
    assert Redactor().redact({word: "oauth two"}) == {word: "oauth two"}


def test_a_pin_is_four_to_ten_digits() -> None:
    """A pin's digits go, the name of a pin of a board stays."""
    assert Redactor().redact({"pin": "4711", "userPin": 471101}) == {"pin": REDACTED, "userPin": REDACTED}
    assert Redactor().redact({"pin": "A0", "pinned": True}) == {"pin": "A0", "pinned": True}


def test_host_keys_come_in_addition() -> None:
    """`extra_keys` matches whatever the spelling, and the built-in keys still hold."""
    redactor = Redactor(extra_keys=["internal_ref"])
    assert redactor.redact({"internalRef": "x", "INTERNAL-REF": 1, "token": "y"}) == {
        "internalRef": REDACTED,
        "INTERNAL-REF": REDACTED,
        "token": REDACTED,
    }
    assert redactor.redact_text("internal-ref=abc123 x") == f"internal-ref={REDACTED} x"


def test_own_suffixes_replace_the_built_in_ones() -> None:
    """With `suffixes`, only the given endings and keys are secret."""
    redactor = Redactor(keys=["pet"], suffixes=["_hush"])
    assert redactor.redact({"pet": "x", "my_hush": "y", "password": "z"}) == {"pet": REDACTED, "my_hush": REDACTED, "password": "z"}


def test_the_replacement_can_be_chosen() -> None:
    """The replacement stands in values and texts, and is not redacted again."""
    redactor = Redactor(replacement="***")
    assert redactor.redact({"token": "x", "t": "password=hunter2"}) == {"token": "***", "t": "password=***"}
    assert redactor.redact_text("password=***") == "password=***"


def test_containers_below_the_depth_are_cut() -> None:
    """At most `max_depth` containers below the outermost are kept."""
    assert Redactor(max_depth=2).redact({"a": {"b": {"c": {"d": 1}}, "x": 1}}) == {"a": {"b": {"c": "[TRUNCATED]"}, "x": 1}}
    assert Redactor(max_depth=2).redact([[[[1]]]]) == [[["[TRUNCATED]"]]]
    with pytest.raises(ValueError, match="max_depth"):
        Redactor(max_depth=0)


def test_pairs_and_flags_are_keys_too() -> None:
    """Name and value objects, header pairs and command flags announce their neighbour."""
    redact = Redactor().redact
    assert redact({"headers": [{"name": "X-Api-Key", "value": "abc"}, {"name": "Accept", "value": "*/*"}]}) == {
        "headers": [{"name": "X-Api-Key", "value": REDACTED}, {"name": "Accept", "value": "*/*"}]
    }
    assert redact([["Authorization", "Bearer abc"], ["Accept", "json"]]) == [["Authorization", REDACTED], ["Accept", "json"]]
    assert redact(["run", "--password", "swordfish", "--fast"]) == ["run", "--password", REDACTED, "--fast"]
    assert redact({"required": ["password", "username"]}) == {"required": ["password", "username"]}


def test_bytes_lose_their_secret_and_stay_bytes() -> None:
    """Bytes values and bytes keys are looked at as text."""
    assert Redactor().redact({"body": b"x password=hunter2 y", "n": b"\xff\x00"}) == {"body": b"x password=[REDACTED] y", "n": b"\xff\x00"}
    assert Redactor().redact([(b"authorization", b"Bearer q7w8e9r0t1")]) == [[b"authorization", REDACTED]]


def test_other_types_are_kept_unless_their_text_has_a_secret() -> None:
    """A date stays a date; an object that prints a password becomes clean text."""
    import datetime as dt

    day = dt.date(2026, 1, 5)

    class Settings:
        def __str__(self) -> str:
            return "Settings(password='hunter2x')"

    assert Redactor().redact({"day": day, "s": Settings()}) == {"day": day, "s": "Settings(password='[REDACTED]')"}


def test_the_input_is_never_changed() -> None:
    """The copy shares no container with the input."""
    value = {"a": [{"password": "x"}], "b": [1]}
    copy = Redactor().redact(value)
    assert value == {"a": [{"password": "x"}], "b": [1]}
    assert copy["b"] is not value["b"]


def test_two_secret_keys_stay_two_entries() -> None:
    """Keys that become alike do not swallow each other."""
    one, two = ("gh" + "p_" + letter * 18 + "q7" * 9 for letter in "ab")
    assert list(Redactor().redact({one: 1, two: 2}).values()) == [1, 2]
