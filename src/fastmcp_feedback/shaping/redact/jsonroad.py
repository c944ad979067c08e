"""Redaction of JSON bytes without decoding what is clean.

The passes of the text rules run over the raw bytes, with escapes blanked out. Only a string that holds a candidate is
decoded, or the value of a secret key, or the container around a name, flag or pair that may be one; the result is put in
its place.
"""

from __future__ import annotations

import marshal
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from ...jsonsafe import dump_safe, loads, needs_care
from .keys import PLAIN, WEAK
from .shapes import Buffer
from .stems import MAX_JSON_KEY, key_places
from .structure import deeper_than, enclosing, mask_escapes, outermost, value_end
from .tokens import MIN_RUN, RUN_CHARS
from .walk import NAME_FIELDS

if TYPE_CHECKING:
    from .redactor import Redactor

_STRICT: Final = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
_MAX_NAME: Final = 64
_NAME_MARKS: Final = tuple(f'"{name}":'.encode() for name in (*NAME_FIELDS, "type"))
_VALUE_MARK: Final = b'alue":'  # the end of every name in `walk.VALUE_FIELDS`
_CONTAINERS: Final = frozenset((b"{", b"["))
_WEAK_CONTAINERS: Final = frozenset(("tokens", "creds", "keys"))  # see `Walk._weak`


class JsonRoad:
    """The fast road of one redactor."""

    __slots__ = ("_redactor", "_straight")

    def __init__(self, redactor: Redactor, *, straight: bool) -> None:
        self._redactor = redactor
        self._straight = straight  # the built-in methods and rules only: candidates can be found in the raw bytes

    def copy(self, value: Any) -> Any:
        """`Redactor.redact` of any value."""
        if self._straight and isinstance(value, (dict, list)):
            data, copy = _plain_json(value)
            if data is not None:
                changed = self.redact(data, None, None)
                return copy if changed is data else orjson.loads(changed)
        return self._redactor.walk(None).value(value)

    def redact(self, data: bytes, found: list[str] | None, breathe: Callable[[], None] | None) -> bytes:
        """`Redactor.redact_json`."""
        if not self._straight:
            value = loads(data)
            return _differing(data, value, self._redactor.redacted(value, found))
        return _Document(self._redactor, data, breathe).redacted(found)


class _Change(NamedTuple):
    """One place of the text with what stands there from now on, and the values that went."""

    start: int
    stop: int
    data: bytes
    found: list[str]


class _Document:
    """One JSON text on its way through.

    A string that holds a secret is changed on its own, and so is the value of a secret key. Where names, flags and pairs
    decide about their neighbours, the container around them is noted and walked at the end; what the passes found in its
    strings is then known (`_texts`), so the walk need not look at any text again.
    """

    __slots__ = ("_breathe", "_changes", "_covered", "_data", "_has_values", "_masked", "_redactor", "_texts", "_walks")

    def __init__(self, redactor: Redactor, data: bytes, breathe: Callable[[], None] | None) -> None:
        self._redactor = redactor
        self._data = data
        self._breathe = breathe
        self._changes: list[_Change] = []
        self._texts: dict[str, str] = {}
        self._walks: list[tuple[int, int]] = []
        self._has_values: bool | None = None
        self._covered = 0  # up to here, all is inside a container that is walked
        self._masked = mask_escapes(data, breathe)

    def redacted(self, found: list[str] | None) -> bytes:
        """The bytes without secrets; the values that went are appended to `found`."""
        data, masked = self._data, self._masked
        # Patterns of the host and personal data may stand anywhere, in numbers too.
        if not self._redactor.rules.plain or deeper_than(masked, self._redactor.max_depth, self._breathe):
            self._note(0, len(data))
        done = 0
        for place, end in self._places(Buffer.of(masked, self._breathe, raw=True)):
            if place >= done:
                start, stop = masked.rfind(b'"', done, place) + 1, masked.find(b'"', place)
                if start > 0 and stop >= 0:
                    done = self._string(start, stop, place, end) or done
        if self._walks:
            self._walk_all()
        if not self._changes:
            return data
        if found is not None:
            for change in self._changes:
                found += change.found
        return _spliced(data, self._changes)

    def _string(self, start: int, stop: int, place: int, end: int) -> int:
        """Look at the string `start..stop` (quotes not included).

        Returns where to go on; 0 when the secret word at `place..end` announces nothing.
        """
        data = self._data
        raw = data[start:stop]
        escaped = b"\\" in raw
        if data[stop + 1 : stop + 2] == b":":
            return self._key(start, stop, _decoded(raw), raw)
        if end and not escaped:
            if len(raw) <= _MAX_NAME and self._decides(start, stop, raw.decode()):
                self._note_around(start)
            if end == stop or not self._redactor.rules.pairs.at(raw, place - start, end - start):
                return 0
        text = _decoded(raw)
        if self._decides(start, stop, text):
            self._note_around(start)
        self._scrub(start, stop, text)
        return stop + 1

    def _scrub(self, start: int, stop: int, text: str) -> bool:
        """Change one string, if it holds a secret."""
        found: list[str] = []
        changed = self._redactor.scrub(text, found, self._breathe)
        if changed is not text:
            self._changes.append(_Change(start, stop, orjson.dumps(changed)[1:-1], found))
        if changed is not text or self._covered:
            self._texts[text] = changed
        return changed is not text

    def _key(self, start: int, stop: int, key: str, raw: bytes) -> int:
        """A key with a secret word or shape in it, and its value."""
        short = stop - start < MIN_RUN and not raw.translate(None, RUN_CHARS)  # nothing to find in so little
        if not short and self._scrub(start, stop, key):
            self._note_around(start)
        if start < self._covered or stop - start > MAX_JSON_KEY or (rank := self._redactor.key_rank(key)) == PLAIN:
            return stop + 1
        return self._value(key, rank, stop + 2) or stop + 1

    def _value(self, key: str, rank: int, start: int) -> int:
        """Redact the value of a secret key on its own; 0 when it is looked at like any other."""
        data = self._data
        first = data[start : start + 1]
        if first == b"n" or (rank == WEAK and first in _CONTAINERS and key.lower() not in _WEAK_CONTAINERS):
            return 0
        stop = value_end(self._masked, start)
        if first.isspace() or stop < 0:  # no compact JSON
            self._note(0, len(data))
            return 0
        value = loads(data[start:stop])
        found: list[str] = []

        def text(value: str) -> str:
            changed = self._redactor.scrub(value, found, self._breathe)
            if changed is not value:
                self._texts[value] = changed
            return changed

        redacted = self._redactor.walk(found, text).under(key, value, rank)
        self._change(start, stop, value, redacted, found)
        return stop

    def _change(self, start: int, stop: int, value: Any, redacted: Any, found: list[str]) -> None:
        before = self._data[start:stop]
        changed = _differing(before, value, redacted)
        if changed is not before:
            self._changes.append(_Change(start, stop, changed, found))

    def _decides(self, start: int, stop: int, text: str) -> bool:
        """Is this a name, flag or header that makes its neighbour a secret?"""
        if start < self._covered or len(text) > _MAX_NAME or self._redactor.key_rank(text.lstrip("-")) == PLAIN:
            return False
        before = self._data[max(0, start - 16) : start - 1]
        if before.endswith(b":"):
            return text == "Secret" or (before.endswith(_NAME_MARKS) and self._holds_values())
        return text.startswith("-") or (before.endswith(b"[") and self._data[stop + 1 : stop + 2] == b",")

    def _holds_values(self) -> bool:
        """Has any object here a field that a name can belong to?"""
        if self._has_values is None:
            self._has_values = _VALUE_MARK in self._data
        return self._has_values

    def _note_around(self, start: int) -> None:
        """The container around the string at `start` is to be walked."""
        if start >= self._covered:
            self._note(*(enclosing(self._masked, start - 1) or (0, len(self._data))))

    def _note(self, start: int, stop: int) -> None:
        self._walks.append((start, stop))
        self._covered = max(self._covered, stop)

    def _walk_all(self) -> None:
        """Walk the noted containers, and let what comes out replace the changes inside them."""
        ranges = outermost(self._walks)
        starts = [start for start, _stop in ranges]
        before, self._changes = self._changes, []
        for start, stop in ranges:
            self._walk(start, stop)
        for change in before:
            at = bisect_right(starts, change.start) - 1
            if at < 0 or change.start >= ranges[at][1]:
                self._changes.append(change)
        self._changes.sort()

    def _walk(self, start: int, stop: int) -> None:
        """Decode a container and walk it; the texts with candidates were already looked at."""
        redactor, changes = self._redactor, self._texts
        plain = redactor.rules.plain
        found: list[str] = []

        def text(value: str) -> str:
            changed = changes.get(value)
            if changed is None:
                return value if plain else redactor.scrub_extra(value, found)
            if changed is not value:
                redactor.scrub(value, found)
            return changed

        value = loads(self._data[start:stop])
        redacted = redactor.walk(found, text).value(value)
        self._change(start, stop, value, redacted, found)

    def _places(self, buffer: Buffer) -> Iterator[tuple[int, int]]:
        """Where candidates stand, in order; with the end of a secret word, or 0 for a shape."""
        rules = self._redactor.rules
        masked = buffer.data
        rank = rules.pairs.rank
        for start, stop in buffer.slices():
            places = [(span[0], 0) for span in rules.shapes(buffer, start, stop)]
            for begin, end in key_places(buffer, start, stop, rules.own):
                key = masked[begin:end]
                if rank(key) or rank(key.lstrip(b"-")) or key.lower() in _SPECIAL:
                    places.append((begin, end))
            if not buffer.ascii:
                places += [(at, 0) for at in rules.foreign(masked, start, stop)]
            places.sort()
            yield from places
            if self._breathe is not None:
                self._breathe()


def _decoded(raw: bytes) -> str:
    """The text of a string literal, quotes not included."""
    return str(orjson.loads(b'"%b"' % raw)) if b"\\" in raw else raw.decode()


def _differing(data: bytes, value: Any, redacted: Any) -> bytes:
    """The redacted value's bytes, or `data` itself when nothing changed."""
    return data if redacted == value and repr(redacted) == repr(value) else dump_safe(redacted)


def _spliced(data: bytes, changes: list[_Change]) -> bytes:
    out: list[bytes] = []
    at = 0
    for change in changes:
        out += (data[at : change.start], change.data)
        at = change.stop
    out.append(data[at:])
    return b"".join(out)


# Names that matter together with the word before or after them: `API key`, `connection string`.
_SPECIAL: Final = frozenset(
    (b"key", b"keys", b"code", b"codes", b"string", b"strings", b"header", b"phrase", b"hash", b"connection", b"conn")
)


def _plain_json(value: Any) -> tuple[bytes | None, Any]:
    """JSON bytes of a value made of JSON types only, and a copy of the value; (None, None) for any other."""
    try:
        data = orjson.dumps(value, option=_STRICT)
        copy = orjson.loads(data)
        # A tuple is not equal to the list that it becomes, NaN not to null: those are looked at more closely.
        if copy == value or not needs_care(data, marshal.dumps(value, 2)):
            return data, copy
    except (TypeError, ValueError, RecursionError):
        pass
    return None, None
