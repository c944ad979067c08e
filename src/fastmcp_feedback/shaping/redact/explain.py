"""What would be removed, and by which rule. Never the value itself."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .redactor import Redactor


@dataclass(frozen=True, slots=True)
class Finding:
    """One place that would be redacted.

    `path` leads to the value in a JSON document (`headers.0.value`; `line 3` in a text; `(key)` when a key itself goes),
    `rule` is a name of `docs/redaction.md`, `start` the character at which the removed part begins (None: the whole value),
    `length` its characters.
    """

    path: str
    rule: str
    start: int | None
    length: int


def explain(value: Any, redactor: Redactor | None = None) -> list[Finding]:
    """The places of a value or text that the redactor would change, in order.

    >>> explain({"login": {"password": "hunter2"}})
    [Finding(path='login.password', rule='secret-key', start=None, length=7)]
    >>> [(finding.path, finding.rule, finding.start) for finding in explain({"note": "token=" + "q7w8" * 5})]
    [('note', 'secret-key-value', 6)]
    """
    redactor = redactor or Redactor()
    if isinstance(value, str):
        return _text_findings(redactor, value, "")
    return _Explanation(redactor).of(value)


def explain_file(path: str | Path, redactor: Redactor | None = None) -> list[Finding]:
    """`explain` of a file: a JSON document, JSON lines, or any other text line by line.

    Raises:
        OSError: The file cannot be read.
    """
    redactor = redactor or Redactor()
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    try:
        return explain(json.loads(text), redactor)
    except ValueError:
        lines = text.split("\n")
    documents = [_document(line) for line in lines]
    if all(known or not line.strip() for (known, _value), line in zip(documents, lines, strict=True)):
        return [
            Finding(f"line {at}: {finding.path}", finding.rule, finding.start, finding.length)
            for at, (known, value) in enumerate(documents, 1)
            if known
            for finding in explain(value, redactor)
        ]
    return _by_line(redactor, text)


def _document(line: str) -> tuple[bool, Any]:
    try:
        return True, json.loads(line)
    except ValueError:
        return False, None


def _by_line(redactor: Redactor, text: str) -> list[Finding]:
    """Findings of a whole text, told by line and column."""
    out: list[Finding] = []
    for finding in _text_findings(redactor, text, ""):
        start = finding.start or 0
        line = text.count("\n", 0, start) + 1
        out.append(Finding(f"line {line}", finding.rule, start - (text.rfind("\n", 0, start) + 1), finding.length))
    return out


def _text_findings(redactor: Redactor, text: str, path: str) -> list[Finding]:
    data = text.encode("utf-8", "surrogatepass")
    mark = redactor.replacement.encode()
    out: list[Finding] = []
    for start, end, rule in redactor.rules.spans(data):
        if data[start:end] != mark:
            before, inside = (len(part.decode("utf-8", "surrogatepass")) for part in (data[:start], data[start:end]))
            out.append(Finding(path, rule, before, inside))
    return out


class _Explanation:
    """A structure walk that notes what it removes."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._findings: list[Finding] = []
        self._walk = redactor.walk(None, self._text, self._gone)

    def of(self, value: Any) -> list[Finding]:
        self._walk.value(value)
        return self._findings

    def _gone(self, path: tuple[str, ...], rule: str, length: int) -> None:
        self._findings.append(Finding(".".join(path), rule, None, length))

    def _text(self, text: str) -> str:
        changed = self._redactor.redact_text(text)
        if changed != text:
            path = ".".join(self._walk.path)
            found = _text_findings(self._redactor, text, path)
            self._findings += found or [Finding(path, "host-redactor", None, len(text))]
        return changed
