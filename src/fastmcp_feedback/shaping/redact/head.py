"""The preview of a payload over the limit, made from its first bytes alone."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from ...jsonsafe import loads

if TYPE_CHECKING:
    from .redactor import Redactor

# A cut string is shown up to the last gap; a run without a gap is shown when it is longer than any token.
_LONGEST_TOKEN: Final = 4_096
_MARGIN: Final = 256
_GAP: Final = re.compile(r"[\s,;]")
_END_MARK: Final = "\ue000\ue001"


def redact_head(redactor: Redactor, data: bytes, limit_chars: int) -> str:
    """See `Redactor.redact_head`."""
    repaired = _repair(data)
    if repaired is None:
        return ""
    value = redactor.redact(loads(repaired))
    text = json.dumps(value)
    mark = text.find(_ESCAPED_MARK)
    if mark >= 0:
        text = text[:mark].rstrip(", ")
    return text[:limit_chars]


_ESCAPED_MARK: Final = json.dumps(_END_MARK)[:-1]


def _repair(data: bytes) -> bytes | None:
    """Valid JSON made of a cut one: what the edge cut is gone, and a mark stands where the text ends."""
    text = data.decode("utf-8", "ignore")
    state = _Scan(text)
    if state.complete:
        return text.encode()
    body = state.kept()
    if not state.stack:
        return json.dumps(_END_MARK).encode() if not body else body.encode()
    comma = "," if body[-1:] not in "[{," else ""
    last = json.dumps(_END_MARK, ensure_ascii=False)
    end = f"{comma}{last}" if state.stack[-1] == "[" else f"{comma}{last}:0"
    return (body + end + "".join("]" if opener == "[" else "}" for opener in reversed(state.stack))).encode()


class _Scan:
    """Where the tokens of a cut JSON text are."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.stack: list[str] = []
        self.complete = False
        self._safe = 0  # everything before is whole: values, and keys together with their values
        self._partial: str | None = None
        self._key = ""  # the key whose value is next, with its colon
        self._key_next = False
        self._run()

    def kept(self) -> str:
        """The whole part, and the part of a cut string that may be shown."""
        body = self.text[: self._safe].rstrip(",")
        if self._partial is None:
            return body
        glue = "," if body[-1:] not in ("", "[", "{", ":") else ""
        return body + glue + self._partial

    def _run(self) -> None:
        at, size = 0, len(self.text)
        while at < size:
            found = _TOKEN.match(self.text, at)
            if found is None:
                if self.text[at] == '"' and not self._key_next:
                    self._cut_string(at, self._key)
                return
            part, at = found[0], found.end()
            self._take(part, at, whole=at < size or part[0] == '"')
            if not self.stack:
                self.complete = part[0] in '}]"'
                return

    def _take(self, part: str, end: int, *, whole: bool) -> None:
        """Note one token. `whole` is false for a number at the very edge, which may go on."""
        kind = part[0]
        if kind in "{[":
            self.stack.append(part)
            self._safe, self._key, self._key_next = end, "", kind == "{"
        elif kind in "}]":
            self.stack.pop()
            self._safe, self._key, self._key_next = end, "", False
        elif kind == ",":
            self._key_next = bool(self.stack) and self.stack[-1] == "{"
        elif kind == ":":
            self._key_next = False
        elif self._key_next:
            self._key, self._key_next = part + ":", False
        elif whole:
            self._safe, self._key = end, ""

    def _cut_string(self, at: int, key: str) -> None:
        """Keep the part of a cut string that ends well before the edge, with its key."""
        raw = _half_string(self.text[at + 1 :])
        shown = _before_last_token(raw)
        if shown:
            self._partial = f"{key}{json.dumps(shown, ensure_ascii=False)}"


_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],:]|-?[0-9][0-9.eE+\-]*+|true|false|null', re.DOTALL)


def _half_string(raw: str) -> str:
    """The text of a string literal without its end."""
    cut = raw.rfind("\\", max(0, len(raw) - 12))
    for end in (len(raw), cut) if cut >= 0 else (len(raw),):
        try:
            return str(json.loads(f'"{raw[:end]}"', strict=False))
        except ValueError:
            continue
    return ""


def _before_last_token(text: str) -> str:
    """The text up to a gap before its edge: a token or a quoted value that the edge cut is not shown."""
    if len(text) > _LONGEST_TOKEN * 2 and not _GAP.search(text, len(text) - _LONGEST_TOKEN):
        return text[: len(text) - _LONGEST_TOKEN]
    edge = max(0, len(text) - _MARGIN)
    while edge > 0 and not _GAP.match(text, edge):
        edge -= 1
    return text[:edge]
