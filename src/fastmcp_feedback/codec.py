"""Record <-> bytes: one JSON object that carries every field, the payload bytes as they are, and the derived facts.

    {"n":[2,11],"t":"c","id":"...","tool":"...",...,"args":{},"result":{"a":"b"}}

The payloads come last, and `n` holds their lengths in bytes, so that a decoder cuts them out without parsing them:
what was encoded once is never encoded again, and integers of any size keep their digits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any, Final

import orjson

from .jsonsafe import Encoded, encode, loads
from .records import CALL_FIELDS, EVENT_FIELDS, Derived, EventRecord, Failure, ToolCallRecord, encoded_payload

_CALL: Final = "c"
_EVENT: Final = "e"
_PAYLOADS: Final = {_CALL: ("args", "result"), _EVENT: ("attrs",)}
_CLASSES: Final[dict[str, type[ToolCallRecord | EventRecord]]] = {_CALL: ToolCallRecord, _EVENT: EventRecord}
_TIMES: Final = {_CALL: "started_at", _EVENT: "occurred_at"}
_FIELDS: Final = {_CALL: CALL_FIELDS, _EVENT: EVENT_FIELDS}
# What stands in the head, in order: the id first (so that it is found without parsing), payloads left out.
_HEADS: Final = {kind: ("id", *(n for n in _FIELDS[kind] if n != "id" and n not in _PAYLOADS[kind])) for kind in _FIELDS}
_MAPPINGS: Final = frozenset({"identity", "extra"})
_FLOATS: Final = frozenset({"duration_ms", "sample_rate"})
_START: Final = re.compile(rb'\{"n":\[(\d+)(?:,(\d+))?\],')
_ID: Final = re.compile(rb'\{"n":\[[\d,]+\],"t":"\w","id":("[^"\\]*")')
_DERIVED: Final = tuple(f.name for f in fields(Derived))


class UnreadableRecord(ValueError):
    """Bytes that `encode_record` never made."""


def encode_record(record: ToolCallRecord | EventRecord) -> bytes:
    """The record as compact JSON. Works for any record; values outside JSON follow the JSON-safe rule.

    >>> from datetime import UTC, datetime
    >>> event = EventRecord(kind="deploy", occurred_at=datetime(2026, 1, 1, tzinfo=UTC), id="e1", attrs={"big": 2**70})
    >>> encode_record(event)
    b'{"n":[30],"t":"e","id":"e1","kind":"deploy","occurred_at":"2026-01-01T00:00:00+00:00","attrs":{"big":1180591620717411303424}}'
    >>> decode_record(encode_record(event)) == event
    True
    """
    kind = _CALL if isinstance(record, ToolCallRecord) else _EVENT
    payloads = [_payload(record, name) for name in _PAYLOADS[kind]]
    head: dict[str, Any] = {"n": [len(data) for data in payloads], "t": kind}
    for name in _HEADS[kind]:
        value = getattr(record, name)
        if name in _MAPPINGS:
            if value != {}:
                head[name] = orjson.Fragment(encode(value).data)
        elif value is not None:
            head[name] = value
    time = head[_TIMES[kind]]
    head[_TIMES[kind]] = time.isoformat() if isinstance(time, datetime) else time
    for name in _FLOATS & head.keys():
        value = head[name]
        if isinstance(value, float) and not math.isfinite(value):
            head[name] = str(value)
    if record._derived is not None:  # noqa: SLF001 - the private slot is carried as it is
        head["d"] = _pack_derived(record.derived)
    return b"".join([_dump(head)[:-1], *(b',"%b":%b' % (n.encode(), p) for n, p in zip(_PAYLOADS[kind], payloads, strict=True)), b"}"])


def _payload(record: ToolCallRecord | EventRecord, name: str) -> bytes:
    found = encoded_payload(record, name)
    return found.data if found is not None else encode(getattr(record, name)).data


def _dump(head: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(head)
    except (TypeError, ValueError):  # a record built by hand: lone surrogates, integers beyond 64 bits, other types
        safe = {k: v if isinstance(v, orjson.Fragment) else orjson.Fragment(encode(v).data) for k, v in head.items()}
        return orjson.dumps(safe)


def _pack_derived(derived: Derived) -> dict[str, Any]:
    packed = {name: value for name in _DERIVED if (value := getattr(derived, name)) not in (None, False)}
    failure = derived.failure
    if failure is not None:
        packed["failure"] = [failure.fault, failure.category, failure.fingerprint, list(failure.bad_arguments)]
    return packed


def decode_record(data: bytes) -> ToolCallRecord | EventRecord:
    """The record that `encode_record` made these bytes of. Fields of a later version are ignored.

    Payloads stay bytes until somebody looks at them.

    Raises:
        UnreadableRecord: these are not the bytes of a record.
    """
    try:
        return _decode(data)
    except UnreadableRecord:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as exc:
        msg = f"these {len(data)} bytes are not a record: {type(exc).__name__}"
        raise UnreadableRecord(msg) from exc


def _decode(data: bytes) -> ToolCallRecord | EventRecord:
    start = _START.match(data)
    if start is None or data[-1:] != b"}":
        msg = f"these {len(data)} bytes do not begin and end like a record"
        raise UnreadableRecord(msg)
    lengths = [int(digits) for digits in start.groups() if digits is not None]
    kind = _CALL if len(lengths) == 2 else _EVENT
    values: dict[str, Any] = {}
    end = len(data) - 1
    for name, length in zip(reversed(_PAYLOADS[kind]), reversed(lengths), strict=True):
        values[name] = _cut(data, end - length, end)
        end -= length + len(name) + 4
        if data[end : end + len(name) + 4] != b',"%b":' % name.encode():
            msg = f"these {len(data)} bytes name lengths that do not fit"
            raise UnreadableRecord(msg)
    head = loads(data[:end] + b"}")
    time = head[_TIMES[kind]]
    head[_TIMES[kind]] = datetime.fromisoformat(time)
    for name in _FLOATS & head.keys():
        if isinstance(head[name], str):
            head[name] = float(head[name])
    values.update((name, head[name]) for name in _HEADS[kind] if name in head)
    return _CLASSES[kind](**values, _derived=_unpack_derived(head["d"]) if "d" in head else None)


def _cut(data: bytes, start: int, end: int) -> Any:
    piece = data[start:end]
    return None if piece == b"null" else Encoded(piece)


def _unpack_derived(packed: Mapping[str, Any]) -> Derived:
    known = {name: packed[name] for name in _DERIVED if name in packed}
    failure = known.get("failure")
    if failure is not None:
        fault, category, fingerprint, bad_arguments = failure
        known["failure"] = Failure(fault, category, fingerprint, tuple(bad_arguments))
    return Derived(**known)


def record_id(data: bytes) -> str | None:
    """The id in the bytes of a record, without decoding it; None when it stands in an unusual form."""
    found = _ID.match(data)
    return str(orjson.loads(found[1])) if found else None
