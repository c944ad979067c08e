"""Writes one JSON object a line, to a file or a stream."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import IO, Any

import orjson

from ..jsonsafe import encode
from ..records import encoded_payload
from ..sink import Record, SinkUnavailable
from ..worker import Worker
from .pipes import write_all

_PAYLOADS = {"tool_call": ("args", "result"), "event": ("attrs",)}


def line(record: Record) -> bytes:
    """`{"record": record_type, **record.to_dict()}` and a newline; payload bytes are spliced in as they are."""
    fields: dict[str, Any] = {"record": record.record_type}
    encoded = {name: encoded_payload(record, name) for name in _PAYLOADS[record.record_type]}
    if not any(encoded.values()):
        return _careful_line(record)
    for name in record.__dataclass_fields__:
        if name == "_derived":
            continue
        found = encoded.get(name)
        fields[name] = orjson.Fragment(found.data) if found is not None else getattr(record, name)
    try:
        return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)
    except (TypeError, ValueError):
        return _careful_line(record)


def _careful_line(record: Record) -> bytes:
    """For records whose payloads are no bytes, and for values that a JSON encoder refuses or would render otherwise."""
    return encode({"record": record.record_type, **record.to_dict()}).data + b"\n"


class JsonLinesSink:
    """Appends records as JSON lines: to `stream`, to the file `path`, or to stderr when neither is given.

    A file is opened with mode 0600 and each line is one `O_APPEND` write, so that several processes may share it. With
    `max_bytes` a file that has grown beyond is renamed to `<path>.1` (replacing an older one) and a new one begun.

    Writes run on a thread of their own: a stream that nobody reads is a failing sink, not a stuck server.

    >>> import asyncio, io
    >>> from fastmcp_feedback.instrumentation import EventRecord, JsonLinesSink
    >>> from datetime import UTC, datetime
    >>> out = io.StringIO()
    >>> asyncio.run(JsonLinesSink(out).write([EventRecord(kind="deploy", occurred_at=datetime.now(UTC), id="e1")]))
    >>> out.getvalue()[:35]
    '{"record":"event","kind":"deploy","'

    Raises:
        ValueError: both `stream` and `path` are given, or `max_bytes` is not a positive whole number or has no path.
    """

    owns_resource = True

    def __init__(self, stream: IO[Any] | None = None, path: str | os.PathLike[str] | None = None, max_bytes: int | None = None) -> None:
        if stream is not None and path is not None:
            msg = "JsonLinesSink takes a stream or a path, not both: leave one of them out"
            raise ValueError(msg)
        if max_bytes is not None and (not isinstance(max_bytes, int) or isinstance(max_bytes, bool) or max_bytes <= 0):
            msg = f"max_bytes={max_bytes!r}: must be a positive whole number of bytes, or None for no limit"
            raise ValueError(msg)
        if max_bytes is not None and path is None:
            msg = "max_bytes needs a path: only a file of its own can be rotated"
            raise ValueError(msg)
        if stream is not None and not callable(getattr(stream, "write", None)):
            msg = f"JsonLinesSink's stream needs a write method, got {type(stream).__name__} (for a file name use path=)"
            raise ValueError(msg)
        self._stream = stream
        self._path = Path(path) if path is not None else None
        self._max_bytes = max_bytes
        self._fd: int | None = None
        self._worker = Worker("fastmcp-feedback-jsonlines")

    async def write(self, records: Sequence[Record]) -> None:
        """Write the records in order; a write that is stuck makes the next one fail instead of queueing behind it."""
        if self._worker.busy:
            where = self._path or "the stream"
            msg = f"{where} does not take what was written to it: nobody reads it, or the disk hangs"
            raise SinkUnavailable(msg)
        try:
            await self._worker.run(self._write_lines, [line(record) for record in records])
        except CancelledError as exc:
            raise SinkUnavailable(str(exc)) from exc

    async def aclose(self) -> None:
        """Close the file; a stream is the host's and stays open."""
        self._worker.stop()
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def _write_lines(self, lines: list[bytes]) -> None:
        if self._path is not None:
            for data in lines:
                write_all(self._file(len(data)), data)
            return
        stream = self._stream or sys.stderr
        if stream is None:  # pythonw, a daemon: nothing to write to
            return
        fd = _descriptor(stream)
        if fd is None:
            _write_stream(stream, lines)
            return
        stream.flush()
        for data in lines:
            write_all(fd, data)

    def _file(self, adding_bytes: int) -> int:
        assert self._path is not None
        if self._fd is not None and self._moved_or_full(adding_bytes):
            os.close(self._fd)
            self._fd = None
        if self._fd is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._fd = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        return self._fd

    def _moved_or_full(self, adding_bytes: int) -> bool:
        assert self._path is not None
        assert self._fd is not None
        try:
            named, opened = self._path.stat(), os.fstat(self._fd)
        except FileNotFoundError:
            return True
        if (named.st_ino, named.st_dev) != (opened.st_ino, opened.st_dev):
            return True
        if self._max_bytes is None or opened.st_size == 0 or opened.st_size + adding_bytes <= self._max_bytes:
            return False
        self._path.replace(self._path.with_name(self._path.name + ".1"))
        return True


def _descriptor(stream: IO[Any]) -> int | None:
    with contextlib.suppress(AttributeError, io.UnsupportedOperation, ValueError, OSError):
        return stream.fileno()
    return None


def _write_stream(stream: IO[Any], lines: list[bytes]) -> None:
    data = b"".join(lines)
    try:
        stream.write(data.decode())
    except TypeError:  # a binary stream
        stream.write(data)
    flush = getattr(stream, "flush", None)
    if flush is not None:
        flush()
