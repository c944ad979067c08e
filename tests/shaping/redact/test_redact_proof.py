from __future__ import annotations

import base64
import json
from pathlib import Path
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.shaping.redact import Redactor
from fastmcp_feedback.shaping.redact.explain import Finding, explain, explain_file
from fastmcp_feedback.shaping.redact.proof import find_secrets
from support.redact_examples import PASSWORD


@given(st.text(min_size=8, max_size=30), st.binary(max_size=6), st.binary(max_size=6))
def test_a_secret_is_found_in_every_form(secret: str, before: bytes, after: bytes) -> None:
    """Plain, escaped once or twice, URL-encoded, and base64 at any alignment."""
    raw = secret.encode("utf-8", "surrogatepass")
    packed = base64.b64encode(before + raw + after).decode()
    for shown in (secret, json.dumps(secret), json.dumps(json.dumps({"a": secret})), quote(raw), packed, {"a": [secret]}, {secret: 1}, raw):
        assert find_secrets(shown, [secret]) == [secret]


def test_a_clean_value_holds_none() -> None:
    """Absent secrets and empty ones are not found."""
    assert find_secrets({"a": "plain"}, [PASSWORD, ""]) == []


def test_explaining_tells_place_rule_and_length_but_never_the_value() -> None:
    """Paths lead into the structure; a removed key is told as such."""
    token = "gh" + "p_" + "a7Q2" * 9
    value = {"a": [{"password": PASSWORD}], "t": f"x token={PASSWORD}", token: 1}
    findings = explain(value)
    assert Finding("a.0.password", "secret-key", None, len(PASSWORD)) in findings
    assert Finding("t", "secret-key-value", 8, len(PASSWORD)) in findings
    assert any(finding.path == "(key)" for finding in findings)
    assert find_secrets(repr(findings), [PASSWORD, token]) == []


def test_explaining_a_file_takes_json_lines_and_text(tmp_path: Path) -> None:
    """A document, one document a line, or any text told by line."""
    path = tmp_path / "in.txt"
    path.write_text(json.dumps({"token": PASSWORD}))
    assert explain_file(path) == [Finding("token", "secret-key", None, len(PASSWORD))]
    path.write_text('{"a":1}\n' + json.dumps({"token": PASSWORD}) + "\n")
    assert explain_file(path) == [Finding("line 2: token", "secret-key", None, len(PASSWORD))]
    path.write_text(f"plain\nexport TOKEN={PASSWORD}\n")
    assert explain_file(path) == [Finding("line 2", "secret-key-value", 13, len(PASSWORD))]
    path.write_text("nothing here")
    assert explain_file(path, Redactor()) == []
