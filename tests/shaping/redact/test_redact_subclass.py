from __future__ import annotations

from typing import Any

import orjson

from fastmcp_feedback.jsonsafe import loads
from fastmcp_feedback.shaping.redact import REDACTED, Redactor


class _Keys(Redactor):
    def is_secret_key(self, key: str) -> bool:
        return key == "pet" or super().is_secret_key(key)


class _Text(Redactor):
    def redact_text(self, text: str) -> str:
        return super().redact_text(text).replace("Bobby", "<name>")


class _Whole(Redactor):
    def redact(self, value: Any) -> Any:
        return {"kept": sorted(value)} if isinstance(value, dict) else "gone"


def test_an_own_key_policy_is_honoured_everywhere() -> None:
    """On the value road and on the bytes road."""
    assert _Keys().redact({"pet": "rex", "token": "x"}) == {"pet": REDACTED, "token": REDACTED}
    assert loads(_Keys().redact_json(b'{"pet":"rex"}')) == {"pet": REDACTED}


def test_an_own_text_policy_is_honoured_in_values_and_keys() -> None:
    """What it removes is told for the carry-over."""
    found: list[str] = []
    assert _Text().redact({"Bobby": ["hi Bobby password=hunter2"]}) == {"<name>": [f"hi <name> password={REDACTED}"]}
    _Text().redact_json(orjson.dumps({"x": "hi Bobby"}), found=found)
    assert "Bobby" in " ".join(found)


def test_an_own_redact_decides_alone() -> None:
    """Bytes and heads go through it, and the removed values are found by comparing."""
    found: list[str] = []
    data = orjson.dumps({"b": "value-one", "a": "value-two"})
    assert loads(_Whole().redact_json(data, found=found)) == {"kept": ["a", "b"]}
    assert {"value-one", "value-two"} <= set(found)
    assert _Whole().redact_head(data, 100) == '{"kept": ["a", "b"]}'
