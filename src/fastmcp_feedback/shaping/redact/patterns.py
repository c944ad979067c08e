"""Patterns of the host: compiled once, refused when they could backtrack without bound, run piece by piece."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from . import linear
from .spans import Span

_PIECE: Final = 8_192
_OVERLAP: Final = 1_024


@dataclass(frozen=True, slots=True)
class HostPattern:
    """A compiled pattern over text; `engine` is `re`, or `re2` for one that `re` could not run in linear time."""

    text: str
    compiled: Any
    engine: str

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Places of the matches. A pattern that says which group is the secret has one named `secret`."""
        if self.engine == "re2":
            found: Iterable[Any] = self.compiled.finditer(text)
        else:
            found = _in_pieces(self.compiled, text)
        group = "secret" if "secret" in self.compiled.groupindex else 0
        for match in found:
            start, end = match.span(group)
            if 0 <= start < end:
                yield start, end


def compile_patterns(patterns: Iterable[object]) -> tuple[HostPattern, ...]:
    """Compile the host's patterns: strings or compiled `re` patterns.

    Raises:
        ValueError: One does not compile, or could backtrack without bound while google-re2 is not installed.
    """
    return tuple(_compile(pattern) for pattern in ([patterns] if isinstance(patterns, (str, re.Pattern)) else patterns))


def _compile(pattern: object) -> HostPattern:
    if isinstance(pattern, re.Pattern):
        source, flags = pattern.pattern, pattern.flags
        if isinstance(source, bytes):
            source, flags = source.decode("latin-1"), flags & ~re.UNICODE
    elif isinstance(pattern, str):
        source, flags = pattern, 0
    else:
        raise ValueError(f"a pattern is a string or a compiled pattern, not {type(pattern).__name__}: {pattern!r}")
    try:
        compiled = re.compile(source, flags & ~re.UNICODE)
    except (re.error, OverflowError, RecursionError) as exc:
        raise ValueError(f"the pattern {source!r} does not compile: {exc}") from exc
    why = linear.objection(source, flags & ~re.UNICODE)
    if why is None:
        return HostPattern(source, compiled, "re")
    faster = _with_re2(source, flags)
    if faster is None:
        raise ValueError(
            f"the pattern {source!r} could backtrack without bound ({why}); rewrite it, or install google-re2 "
            "with the extra: pip install 'fastmcp-feedback[fast]'"
        )
    return HostPattern(source, faster, "re2")


def _with_re2(source: str, flags: int) -> Any | None:
    """The pattern compiled by google-re2, or None when that is not installed or refuses it."""
    try:
        re2 = importlib.import_module("re2")
    except ImportError:
        return None
    try:
        options = re2.Options()
        options.log_errors = False
        options.case_sensitive = not flags & re.IGNORECASE
        options.dot_nl = bool(flags & re.DOTALL)
        options.one_line = not flags & re.MULTILINE
        return re2.compile(source, options)
    except re2.error:
        return None


def _in_pieces(compiled: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Matches of a pattern in overlapping pieces, so that a start repeated without end costs a piece's length at most."""
    if len(text) <= _PIECE:
        yield from compiled.finditer(text)
        return
    done = 0
    for start in range(0, len(text), _PIECE - _OVERLAP):
        for found in compiled.finditer(text, max(start, done), min(len(text), start + _PIECE)):
            yield found
            done = max(done, found.end())


def host_spans(data: bytes, patterns: tuple[HostPattern, ...]) -> list[Span]:
    """Matches of the host's patterns as byte places."""
    if not patterns:
        return []
    text = data.decode("utf-8", "surrogateescape")
    plain = len(text) == len(data)
    out: list[Span] = []
    for pattern in patterns:
        for start, end in pattern.spans(text):
            if plain:
                out.append((start, end, "host-pattern"))
            else:
                before = len(text[:start].encode("utf-8", "surrogateescape"))
                out.append((before, before + len(text[start:end].encode("utf-8", "surrogateescape")), "host-pattern"))
    return out
