"""Opening an SQLite file: private to its owner, in WAL mode, and what its errors mean in plain words."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
import weakref
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from ..contain import warn_once
from ..sink import SinkUnavailable

BUSY_TIMEOUT_S: Final = 2.0
"""Shorter than any `sink_timeout`: the batch is tried again later, and the writer stays free to be told to stop."""

_RETRY_PAUSE_S: Final = 0.02
FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700

_CACHED_STATEMENTS: Final = 24  # those of many rows hold half a megabyte each
_READ_SETTINGS: Final = ("PRAGMA cache_size=-16000",)  # kB: random ids touch many pages of their index
_SETTINGS: Final = (
    *_READ_SETTINGS,
    "PRAGMA synchronous=NORMAL",
    "PRAGMA wal_autocheckpoint=4000",  # pages, 16 MB: fewer pages are written twice
)

Identity = tuple[int, int]


def identity_of(path: Path) -> Identity | None:
    """Which file lies at the path now; None when there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - once a batch: without the detour
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def make_private(path: Path) -> None:
    """Create the file, and folders above it, readable by their owner alone. What exists already is left as it is.

    An existing file is not even opened: closing it again would drop the locks that SQLite holds on it.
    """
    if not path.parent.exists():
        path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, FILE_MODE))


def connect(path: Path | None, *, read_only: bool = False) -> sqlite3.Connection:
    """A connection in autocommit mode, usable from any one thread at a time. `None` is a database in memory.

    One that only reads leaves the file as it is, its journal mode too: it may be somebody else's.
    """
    name = ":memory:" if path is None else str(path)
    read_only = read_only and path is not None
    con = sqlite3.connect(
        f"file:{quote(str(path))}?mode=ro" if read_only else name,
        uri=read_only,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=_CACHED_STATEMENTS,
    )
    try:
        if path is not None and not read_only:
            _use_wal(con, name)
        for setting in _READ_SETTINGS if read_only else _SETTINGS:
            con.execute(setting)
    except BaseException:
        con.close()
        raise
    return con


def _use_wal(con: sqlite3.Connection, name: str) -> None:
    """Switch to WAL; while another process does the same SQLite answers `locked` without waiting."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            (mode,) = con.execute("PRAGMA journal_mode=WAL").fetchone()
        except sqlite3.OperationalError as exc:
            if not is_busy(exc) or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_PAUSE_S)
            continue
        if mode != "wal":
            warn_once(
                f"wal {name}", "%s cannot use SQLite's WAL mode (it is in %s): writers and readers will wait for each other", name, mode
            )
        return


# Connections that a fork made unusable. Closing them here would touch the parent's files.
_inherited: list[sqlite3.Connection] = []


class Handle:
    """One connection and the file that it was opened on; forgotten, not closed, after a fork."""

    def __init__(self) -> None:
        self._con: sqlite3.Connection | None = None
        self._pid = os.getpid()
        self._finalizer: Any = None
        self.identity: Identity | None = None

    def get(self) -> sqlite3.Connection | None:
        """The connection, None when there is none that this process may use."""
        if self._con is not None and self._pid != os.getpid():
            _inherited.append(self._con)
            self._con = None
            self._finalizer.detach()
        return self._con

    def set(self, con: sqlite3.Connection, identity: Identity | None) -> sqlite3.Connection:
        """Keep this connection."""
        self._con, self.identity, self._pid = con, identity, os.getpid()
        # When the sink is forgotten without aclose(); at exit the writer may still need the connection.
        self._finalizer = weakref.finalize(self, con.close)
        self._finalizer.atexit = False
        return con

    def close(self) -> None:
        """Close it, if there is one."""
        con = self.get()
        if con is not None:
            self._con = None
            self._finalizer.detach()
            con.close()


def primary_code(exc: sqlite3.Error) -> int:
    """SQLite's primary result code, 0 when the error has none."""
    return (getattr(exc, "sqlite_errorcode", 0) or 0) & 0xFF


def is_busy(exc: sqlite3.Error) -> bool:
    """Is the database locked by somebody?"""
    return primary_code(exc) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


_MEANINGS: Final = {
    sqlite3.SQLITE_BUSY: "is locked by another process; if that lasts, find who holds a transaction open",
    sqlite3.SQLITE_LOCKED: "is locked by another connection of this process",
    sqlite3.SQLITE_READONLY: "is read-only: give this user write permission on the file and on its folder",
    sqlite3.SQLITE_FULL: "cannot grow because the disk is full: free some space or prune",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: check that the folder exists and that this user may write there",
    sqlite3.SQLITE_PERM: "may not be opened: give this user permission on the file",
    sqlite3.SQLITE_IOERR: "cannot be read or written (input/output error): check the disk",
    sqlite3.SQLITE_CORRUPT: "is damaged: restore it from a copy, or move it away and a new one is made",
    sqlite3.SQLITE_NOTADB: "is not an SQLite database: name another file",
}


def explain(exc: sqlite3.Error | OSError, shown: str) -> SinkUnavailable:
    """The error in plain words: what, why, and what to do."""
    if isinstance(exc, OSError):
        return SinkUnavailable(f"{shown} cannot be created ({exc.strerror or exc}): name a folder where this user may write")
    meaning = _MEANINGS.get(primary_code(exc))
    text = str(exc)
    if meaning is None and "no such table" in text:
        meaning = "has lost a table: pass create_tables=True, or run `fastmcp-feedback db upgrade`"
    return SinkUnavailable(f"{shown} {meaning or f'refused a statement ({text})'}")
