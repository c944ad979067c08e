"""Many rows into an SQLite table with few statements."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import chain
from typing import Final

from .codec import Row
from .ddl import quoted
from .schema import Table

CHUNK_ROWS: Final = 128
"""Rows of one statement. While SQLite works on them the interpreter is free for other threads; binding their values holds
it for half a millisecond."""

_LEARN_AGAIN_AFTER: Final = 1000  # chunks


class Inserts:
    """`INSERT ... ON CONFLICT DO NOTHING` into one table, for one connection at a time.

    Binding a value costs Python's sqlite3 as much as SQLite itself needs to store it, and half of a call's columns are
    mostly empty. So columns that are NULL in a whole chunk are left out of its statement. Which ones is learnt from the
    first chunk and only ever shrinks, so that there are few statements to prepare.
    """

    def __init__(self, name: str, table: Table) -> None:
        self._name = name
        self._table = table
        self._tail = f" ON CONFLICT ({', '.join(map(quoted, table.primary_key))}) DO NOTHING"
        self.one = self._sql(range(len(table.columns)), 1)
        self._kept: list[int] | None = None
        self._statement = ""
        self._chunks = 0

    def run(self, con: sqlite3.Connection, rows: Sequence[Row]) -> None:
        """Insert all rows, leaving out those whose key is there."""
        whole = len(rows) - len(rows) % CHUNK_ROWS
        for start in range(0, whole, CHUNK_ROWS):
            self._run_chunk(con, rows[start : start + CHUNK_ROWS])
        if whole < len(rows):
            con.executemany(self.one, rows[whole:])

    def _run_chunk(self, con: sqlite3.Connection, rows: Sequence[Row]) -> None:
        columns = list(zip(*rows, strict=True))
        self._learn(columns)
        assert self._kept is not None
        con.execute(self._statement, list(chain.from_iterable(zip(*(columns[n] for n in self._kept), strict=True))))

    def _learn(self, columns: list[tuple[object, ...]]) -> None:
        """Note which columns hold something."""
        self._chunks += 1
        if self._kept is None or self._chunks > _LEARN_AGAIN_AFTER:
            self._chunks, kept = 0, set[int]()
        else:
            kept = set(self._kept)
        used = kept | {n for n, column in enumerate(columns) if n not in kept and column.count(None) < len(column)}
        if self._kept is None or used != set(self._kept):
            self._kept = sorted(used)
            self._statement = self._sql(self._kept, CHUNK_ROWS)

    def _sql(self, kept: Sequence[int], rows: int) -> str:
        names = ", ".join(quoted(self._table.columns[n].name) for n in kept)
        row = f"({', '.join('?' * len(kept))})"
        return f"INSERT INTO {quoted(self._name)} ({names}) VALUES " + ", ".join([row] * rows) + self._tail  # noqa: S608 - names of ours
