"""Where a database is: its URL taken apart, and a form of it that may be shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlencode

from .schema import Dialect

_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9]*)(?:\+([A-Za-z0-9_]+))?://(.*)", re.DOTALL)
_DIALECTS: Final[dict[str, Dialect]] = {"sqlite": "sqlite", "postgresql": "postgresql", "postgres": "postgresql"}
_EXAMPLES: Final = "sqlite:///calls.db or postgresql://user:password@host/name"


@dataclass(frozen=True, slots=True)
class Location:
    """A database. `path` is None in memory and on a server; `dsn` is what the server's driver takes."""

    dialect: Dialect
    path: Path | None = None
    dsn: str = field(default="", repr=False)
    options: dict[str, str] = field(default_factory=dict)
    shown: str = ""

    @property
    def in_memory(self) -> bool:
        """True for an SQLite database without a file."""
        return self.dialect == "sqlite" and self.path is None


def locate(url: str) -> Location:
    """Take a database URL apart. Any driver part is accepted: the store brings its own.

    >>> locate("sqlite+aiosqlite:///calls.db").path.name, locate("postgresql://me:secret@db/x").shown
    ('calls.db', 'postgresql://me:***@db/x')

    Raises:
        ValueError: not a URL, or of a database that is not supported.
    """
    parts = _URL.fullmatch(url)
    if parts is None:
        raise ValueError(f"not a database URL: {hide_password(url)!r}; write for example {_EXAMPLES}")
    scheme, rest = parts[1].lower(), parts[3]
    dialect = _DIALECTS.get(scheme)
    if dialect is None:
        raise ValueError(f"database {scheme!r} is not supported; write for example {_EXAMPLES}")
    return _sqlite(rest) if dialect == "sqlite" else _postgres(rest)


def hide_password(url: str) -> str:
    """The URL without the password that it may hold."""
    head, separator, rest = url.partition("://")
    authority, slash, tail = rest.rpartition("@")
    if separator and slash:
        user, colon, _ = authority.partition(":")
        return f"{head}://{user}{':***' if colon else ''}@{_hide_options(tail)}"
    return f"{head}{separator}{_hide_options(rest)}"


def _hide_options(text: str) -> str:
    return re.sub(r"(?i)(password=)[^&]*", r"\1***", text)


def _sqlite(rest: str) -> Location:
    name, _, query = rest.partition("?")
    if name and not name.startswith("/"):
        raise ValueError(f"an SQLite URL has three slashes before a relative path and four before an absolute one: sqlite:///{name}")
    name = name[1:]
    options = dict(parse_qsl(query))
    if not name or name == ":memory:":
        return Location("sqlite", options=options, shown="sqlite:///:memory:")
    if name.startswith("file:"):
        raise ValueError("SQLite's own file: URIs are not supported; write sqlite:/// and the path")
    return Location("sqlite", path=Path(name), options=options, shown=f"sqlite:///{name}")


# Options of ours, or of SQLAlchemy's dialect, that the driver itself does not know.
_OURS: Final = ("prepared_statement_cache_size", "statement_cache_size", "pgbouncer", "async_fallback")


def _postgres(rest: str) -> Location:
    address, _, query = rest.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    options = {name: value for name, value in pairs if name in _OURS}
    passed = urlencode([(name, value) for name, value in pairs if name not in _OURS], safe="/:")
    dsn = f"postgresql://{address}" + (f"?{passed}" if passed else "")
    return Location("postgresql", dsn=dsn, options=options, shown=hide_password(dsn))
