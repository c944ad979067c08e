"""Proof for a host's tests: do these secrets stand anywhere in what was written?"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote, quote_plus

_MAX_DEPTH: Final = 250
_BASE64_LEAST: Final = 6


def find_secrets(data: Any, secrets: Iterable[str]) -> list[str]:
    """The secrets that stand in the data in any usual form, in the order given.

    Looked for: the text itself, JSON-escaped (once and twice), URL-encoded, reversed-slash escapes, and base64 at each of
    the three alignments, so that a secret inside a longer encoded text is found too.

    Args:
        data: Text, bytes, or any value of dicts, lists and scalars; other objects are looked at by `str` and `repr`.
        secrets: What must not be there. Empty strings are ignored.

    >>> find_secrets({"note": "user:hunter2"}, ["hunter2", "other-one"])
    ['hunter2']
    >>> import base64
    >>> find_secrets(base64.b64encode(b"user:hunter2-long"), ["hunter2-long"])
    ['hunter2-long']
    """
    text = "\0".join(_texts(data, 0))
    return [secret for secret in secrets if secret and any(form in text for form in forms(secret))]


def forms(secret: str) -> list[str]:
    """Every form of a secret that `find_secrets` looks for, the plain one first."""
    raw = secret.encode("utf-8", "surrogatepass")
    once = json.dumps(secret, ensure_ascii=False)[1:-1]
    ascii_once = json.dumps(secret)[1:-1]
    out = [secret, once, ascii_once, json.dumps(once, ensure_ascii=False)[1:-1], json.dumps(ascii_once)[1:-1], secret.replace("/", "\\/")]
    out += [quote(raw), quote(raw, safe=""), quote_plus(raw), repr(secret)[1:-1]]
    if len(raw) >= _BASE64_LEAST:
        out += _aligned(raw)
    return list(dict.fromkeys(out))


def _aligned(raw: bytes) -> list[str]:
    """The base64 characters that only these bytes decide, at each alignment, standard and URL-safe."""
    out: list[str] = []
    for shift in range(3):
        packed = base64.b64encode(b"\0" * shift + raw).decode().rstrip("=")
        first = -(-shift * 8 // 6)
        last = (shift + len(raw)) * 8 // 6
        core = packed[first:last]
        if len(core) >= _BASE64_LEAST:
            out += [core, core.replace("+", "-").replace("/", "_")]
    return out


def _texts(data: Any, depth: int) -> Iterable[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, (bytes, bytearray, memoryview)):
        yield bytes(data).decode("utf-8", "replace")
    elif depth > _MAX_DEPTH:
        yield repr(data)
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield from _texts(key, depth + 1)
            yield from _texts(value, depth + 1)
    elif isinstance(data, (list, tuple, set, frozenset)):
        for item in data:
            yield from _texts(item, depth + 1)
    elif data is not None and not isinstance(data, bool):
        yield str(data)
        if not isinstance(data, (int, float)):
            yield repr(data)
