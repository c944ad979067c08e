from __future__ import annotations

# ruff: noqa: E501 - one text beside another
import base64
import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.shaping.redact import Redactor

REDACTOR = Redactor()
HASH = "4f9c1e2d3b4a5968778695a4b3c2d1e0f9a8b7c6"
IMAGE = base64.b64encode(b"\x89PNG\r\n\x1a\n" + random.Random(5).randbytes(3_000)).decode()

TEXTS = (
    "job 9d39a049-2131-4281-b4a1-a75258a9d32a", f"commit {HASH}", f"app@sha256:{HASH}{HASH[:24]}", IMAGE, "data:image/png;base64," + IMAGE,
    "max_tokens=4096 input_tokens: 12, output_tokens: 7", "next_page_token=CAEQAA", "Please choose a strong password and never share it.",
    "password: must be at least 12 characters", "token: field required", "api_key\n  Field required [type=missing]", "401: token expired",
    "password = getpass.getpass()", 'api_key = os.environ["SERVICE_API_KEY"]', "const token = await getToken();", "def get_token(self) -> str:",
    "password: string;", "token=None", "password=password", "if password != confirm_password:", "SELECT password FROM users WHERE id = ?",
    "CREATE TABLE t (password VARCHAR(255) NOT NULL)", "scikit-learn and sk-learn", "skeleton-loader-component-wrapper-dark", "languages: sk-SK, en-US",
    "pypi-simple-index-mirror", "hf_hub_download", "npm install passport-jwt", "passport-local-mongoose@6.1.0", "/etc/passwd", "C:\\Secrets\\auth.exe",
    "https://example.com/docs/authentication?page=2&sort=asc#tokens", "http://localhost:8080/@scope/pkg", "git@github.com:acme/app.git",
    "arn:aws:iam::123456789012:role/deployer", "arn:aws:secretsmanager:eu-1:123456789012:secret:prod/db-AbCdEf", "traceparent: 00-" + HASH[:32] + "-" + HASH[:16] + "-01",
    "password=[REDACTED]", "token=${GITHUB_TOKEN}", "password: <password>", "api_key: {{ api_key }}", "Authorization: Bearer <token>", "OPENAI_API_KEY=YOUR_API_KEY",
    "use --no-password-prompt or --token-file PATH", "Unexpected token '<' in JSON at position 12", "invalid token 'abc123def'", "author: Jane Writer",
    "cookie consent banner v2.3.1", "the key insight is 42", "session started at 2026-01-02T03:04:05Z", "auth0|5f7c8ec7c33c6c004bbafe82", "usage: 12k tokens",
    "token bucket algorithm with rate=100", "chunk-vendors.4f9c1e2d.js", 'ETag: W/"5d8c72a5edda8"', "regex ^(?=.*\\d).{8,}$", 'get_secret("db-creds")', "≥ 3 ✅",
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_a_benign_text_comes_through_unchanged(text: str) -> None:
    """As a text, as a value, as a JSON document."""
    assert REDACTOR.redact_text(text) == text
    assert REDACTOR.redact({"a": [text]}) == {"a": [text]}


def test_an_image_is_not_scanned_for_words() -> None:
    """A content block with base64 data is the same object on the fast road."""
    import orjson

    data = orjson.dumps({"type": "image", "data": IMAGE, "mimeType": "image/png"})
    assert REDACTOR.redact_json(data) is data


@given(st.lists(st.text(alphabet=string.ascii_lowercase, min_size=1, max_size=10), max_size=20))
def test_lower_case_words_are_never_changed(words: list[str]) -> None:
    """Prose without digits and punctuation holds no secret that could be told."""
    text = " ".join(words)
    assert REDACTOR.redact_text(text) == text


@given(st.uuids(), st.integers(0, 2**160 - 1), st.datetimes())
def test_identifiers_are_never_changed(uuid: object, number: int, when: object) -> None:
    """UUIDs, hashes and times stay in sentences and under plain keys."""
    text = f"request {uuid} at {when} of commit {number:040x}"
    assert REDACTOR.redact_text(text) == text
    assert REDACTOR.redact({"id": str(uuid), "sha": f"{number:040x}"}) == {"id": str(uuid), "sha": f"{number:040x}"}
