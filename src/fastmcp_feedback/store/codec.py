"""Between records and rows: the only encoding for storage.

A record's row is a tuple in the order of its table. Payloads that are JSON bytes already are taken as they are; what a
host put into a record by hand goes through the JSON-safe rule. Only a timestamp that is none makes a record unusable.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from .. import jsonsafe
from ..ids import utc_now
from ..jsonsafe import Encoded, clean_text, encode
from ..records import NO_DERIVED, Derived, EventRecord, ToolCallRecord
from ..sink import Record
from .schema import EVENTS, TOOL_CALLS, Dialect, Kind, Table

MAX_KEY_CHARS: Final = 255
MAX_TEXT_CHARS: Final = 1 << 20
_MAX_INT: Final = 2**63 - 1
_HASH_CHARS: Final = 64
_PLAIN: Final = frozenset({str, int, bool})

_NO_FAILURE: Final = (None, None, None)

Stamp = Callable[[datetime], Any]
Row = tuple[Any, ...]

# The slots behind the payload attributes: bytes that nobody decoded come out as they are.
_args = getattr(ToolCallRecord, "args").__get__  # noqa: B009 - to the type checker the class has no such attribute
_result = getattr(ToolCallRecord, "result").__get__  # noqa: B009 - see above
_attrs = getattr(EventRecord, "attrs").__get__  # noqa: B009 - see above


class UnusableRecord(ValueError):
    """This record can never be stored; the text says why, without payload."""


def call_row(record: ToolCallRecord, stamp: Stamp) -> Row:
    """The row of a call for `TOOL_CALLS`."""
    tool, mode, outcome, key, error_type, session_id, request_id, client_id, user_sub, caller_kind, version = _keys(
        (
            record.tool, record.mode, record.outcome, record.id, record.error_type, record.session_id, record.request_id,
            record.client_id, record.user_sub, record.caller_kind, record.server_version,
        )
    )  # fmt: skip
    derived = record._derived  # noqa: SLF001 - the property would cost as much as three columns
    return (
        tool or "",
        stamp(record.started_at),
        _real(record.duration_ms),
        bool(record.ok),
        mode or "",
        outcome or "",
        _id(key, record.id),
        error_type,
        _text(record.error_message),
        session_id,
        request_id,
        client_id,
        user_sub,
        caller_kind,
        json_text(record.identity),
        version,
        _int(record.args_size),
        _int(record.result_size),
        json_text(_args(record)),
        json_text(_result(record)),
        json_text(record.extra),
        _real(record.sample_rate),
        *(_NOTHING_DERIVED if derived is None else _derived_of_call(derived)),
    )


def _derived_of_call(derived: Derived) -> Row:
    failure = derived.failure
    fault, category, fingerprint, *rest = _keys(
        (
            *((failure.fault, failure.category, failure.fingerprint) if failure else _NO_FAILURE),
            derived.conversation_key, derived.conversation_basis, derived.trace_id, derived.span_id, derived.parent_call_id,
        )
    )  # fmt: skip
    bad = json_text(list(failure.bad_arguments)) if failure and failure.bad_arguments else None
    return (fault, category, fingerprint, bad, *rest, bool(derived.internal))


def event_row(record: EventRecord, stamp: Stamp) -> Row:
    """The row of an event for `EVENTS`."""
    derived = record.derived
    kind, key, *rest = _keys(
        (
            record.kind, record.id, record.key, record.call_id, record.session_id, record.user_sub, record.caller_kind,
            record.client_id, record.server_version,
        )
    )  # fmt: skip
    return (
        kind or "",
        stamp(record.occurred_at),
        _id(key, record.id),
        *rest,
        json_text(_attrs(record)),
        *_keys((derived.conversation_key, derived.conversation_basis, derived.trace_id, derived.span_id)),
    )


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one table in a batch, with the records that they were made of."""

    table: Table
    rows: list[Row]
    records: list[Record]


def encode_rows(records: Sequence[Record], stamp: Stamp) -> tuple[list[Part], list[tuple[Record, str]]]:
    """Rows by table, and the records that have no row with the reason."""
    calls, events = Part(TOOL_CALLS, [], []), Part(EVENTS, [], [])
    unusable: list[tuple[Record, str]] = []
    for record in records:
        try:
            if isinstance(record, ToolCallRecord):
                calls.rows.append(call_row(record, stamp))
                calls.records.append(record)
            elif isinstance(record, EventRecord):
                events.rows.append(event_row(record, stamp))
                events.records.append(record)
            else:
                unusable.append((record, f"not a record but {type(record).__name__}"))
        except Exception as exc:  # noqa: BLE001 - the reason is the value: one odd record must not hold up the others
            unusable.append((record, str(exc) if isinstance(exc, UnusableRecord) else f"cannot be made a row: {type(exc).__name__}"))
    return [part for part in (calls, events) if part.rows], unusable


# -- columns


def _keys(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Short texts, clean and cut. Most need neither, which one look at all of them together tells."""
    try:
        joined = "".join([value for value in values if value is not None])
    except TypeError:  # somebody's own type among them
        joined = "\0"
    if len(joined) <= MAX_KEY_CHARS and joined.isascii() and "\0" not in joined:
        return values
    return tuple(map(short_text, values))


def short_text(value: Any) -> str | None:
    """A short text: clean, at most `MAX_KEY_CHARS` characters."""
    if value is None:
        return None
    return clean_text(_str(value)[: MAX_KEY_CHARS * 4])[:MAX_KEY_CHARS]


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return clean_text(_str(value)[:MAX_TEXT_CHARS])


def _str(value: Any) -> str:
    if isinstance(value, str):
        return str.__str__(value)
    decoded = jsonsafe.to_safe(value)
    return decoded if isinstance(decoded, str) else str(decoded)


def _id(short: str | None, value: Any) -> str:
    """The id; one that is too long for an index keeps its head and gets a digest, so that it stays unique."""
    if not short:
        raise UnusableRecord("it has no id")
    if len(short) < MAX_KEY_CHARS or short == value:
        return short
    digest = hashlib.sha256(_str(value).encode("utf-8", "backslashreplace")).hexdigest()
    return short[: MAX_KEY_CHARS - _HASH_CHARS] + digest


def _real(value: Any) -> float | None:
    if type(value) is float and math.isfinite(value):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _int(value: Any) -> int | None:
    if not isinstance(value, int):
        return None
    number = int(value)
    return number if -_MAX_INT <= number <= _MAX_INT else None


def json_text(value: Any) -> str | None:
    """JSON text for a column; None for what is missing."""
    if value is None:
        return None
    if type(value) is Encoded:
        text = value.data.decode("utf-8", "replace")
        return None if text == "null" else text
    if type(value) is dict:
        if not value:
            return "{}"
        plain = _plain_json(value)
        if plain is not None:
            return plain
    return encode(value).data.decode("utf-8", "replace")


def _plain_json(value: dict[Any, Any]) -> str | None:
    """A small dict of plain values, as `extra` mostly is, without the careful look; None for anything else."""
    for item in value.values():
        if type(item) not in _PLAIN:
            return None
    try:
        data = orjson.dumps(value)
    except (TypeError, ValueError):
        return None
    return None if b"\\u0000" in data else data.decode()


def utc(moment: Any) -> datetime:
    """The moment as an aware UTC datetime; one without a zone counts as UTC."""
    if type(moment) is datetime and moment.tzinfo is UTC:
        return moment
    if not isinstance(moment, datetime):
        raise UnusableRecord(f"its time is no datetime but {type(moment).__name__}")
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def stamp_text(moment: datetime) -> str:
    """ISO 8601 in UTC with microseconds: text that sorts by time.

    >>> from datetime import datetime, timezone
    >>> stamp_text(datetime(2026, 10, 2, 3, 44, tzinfo=timezone.utc))
    '2026-10-02T03:44:00.000000+00:00'
    """
    if type(moment) is datetime and moment.tzinfo is UTC and moment.microsecond:
        return orjson.dumps(moment)[1:-1].decode()  # the same text, four times faster
    return utc(moment).isoformat(timespec="microseconds")


STAMPS: Final[dict[Dialect, Stamp]] = {"sqlite": stamp_text, "postgresql": utc}
"""How each database takes a time: SQLite as text, PostgreSQL as a datetime."""


def now(dialect: Dialect) -> Any:
    """The present moment as a column value."""
    return STAMPS[dialect](utc_now())


def packed_vector(text: str | bytes | None) -> bytes | None:
    """A vector given as JSON as little-endian 32-bit floats; None when it is none."""
    if not isinstance(text, str):
        return text
    numbers = jsonsafe.loads(text)
    return struct.pack(f"<{len(numbers)}f", *numbers) if isinstance(numbers, list) else None


# -- back


def _read_time(value: Any) -> Any:
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return utc(value) if isinstance(value, datetime) else value


def _read_json(value: Any) -> Any:
    return jsonsafe.loads(value) if isinstance(value, (str, bytes)) else value


_READERS: Final[dict[Kind, Callable[[Any], Any]]] = {"time": _read_time, "json": _read_json, "bool": bool}


def read_row(row: Mapping[str, Any], kinds: Mapping[str, Kind], *, json_decoded: bool = False) -> dict[str, Any]:
    """Column values as Python values: aware datetimes, bools, decoded JSON; None for SQL NULL.

    `json_decoded` says that the driver has decoded JSON already.
    """
    found: dict[str, Any] = {}
    for name, value in row.items():
        kind = kinds.get(name)
        reader = None if value is None or kind is None or (json_decoded and kind == "json") else _READERS.get(kind)
        found[name] = value if reader is None else reader(value)
    return found


_NOTHING_DERIVED: Final = _derived_of_call(NO_DERIVED)
