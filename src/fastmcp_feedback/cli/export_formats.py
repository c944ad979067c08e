"""Writing recorded rows as JSON lines, CSV and Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from datetime import datetime
from types import TracebackType
from typing import IO, Any, Final, Protocol, Self

from ..store.schema import Table

Row = dict[str, Any]
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


class NoParquet(Exception):
    """The package that writes Parquet is not installed."""


class RowWriter(Protocol):
    """Takes rows a page at a time; ends the file when it is left."""

    def write(self, rows: Sequence[Row]) -> None:
        """Add rows."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None) -> None: ...


class _Text:
    """What writers of text share."""

    def __init__(self, stream: IO[bytes], table: Table) -> None:
        self._names = table.column_names
        self._out = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None) -> None:
        self._out.detach()


class JsonLines(_Text):
    """One JSON object a line, names as the columns, times as ISO 8601."""

    def write(self, rows: Sequence[Row]) -> None:
        """Add rows."""
        for row in rows:
            self._out.write(json.dumps(row, ensure_ascii=False, default=_plain) + "\n")


class Csv(_Text):
    """A header and a line a row; JSON as text.

    A text that a spreadsheet would take for a formula begins with an apostrophe: recorded text is anybody's.
    """

    def __init__(self, stream: IO[bytes], table: Table) -> None:
        super().__init__(stream, table)
        self._csv = csv.writer(self._out)
        self._csv.writerow(self._names)

    def write(self, rows: Sequence[Row]) -> None:
        """Add rows."""
        self._csv.writerows([_cell(row[name]) for name in self._names] for row in rows)


class Parquet:
    """One row group a page; columns typed as the table's, times in microseconds of UTC, JSON as text."""

    def __init__(self, stream: IO[bytes], table: Table) -> None:
        try:
            import pyarrow as pa  # noqa: PLC0415 - a large package that few need
            import pyarrow.parquet as pq  # noqa: PLC0415 - see above
        except ImportError as exc:
            raise NoParquet("Parquet needs pyarrow, which is not installed") from exc
        types = {"time": pa.timestamp("us", tz="UTC"), "real": pa.float64(), "int": pa.int64(), "bool": pa.bool_()}
        self._kinds = table.kinds()
        self._schema = pa.schema([(column.name, types.get(column.kind, pa.string())) for column in table.columns])
        self._make = pa.Table.from_pylist
        self._writer = pq.ParquetWriter(stream, self._schema, compression="zstd")

    def write(self, rows: Sequence[Row]) -> None:
        """Add rows."""
        self._writer.write_table(self._make([self._row(row) for row in rows], schema=self._schema))

    def _row(self, row: Row) -> Row:
        return {name: _json(row[name]) if kind == "json" else row[name] for name, kind in self._kinds.items()}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None) -> None:
        self._writer.close()


FORMATS: Final[dict[str, Callable[[IO[bytes], Table], RowWriter]]] = {"jsonl": JsonLines, "csv": Csv, "parquet": Parquet}


def _plain(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _cell(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (dict, list)):
        return _json(value)
    if isinstance(value, str) and value.startswith(_FORMULA):
        return "'" + value
    return value
