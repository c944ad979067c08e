"""What PostgreSQL's and the network's errors mean in plain words."""

from __future__ import annotations

from typing import Final

from ..sink import SinkUnavailable

UNIQUE_VIOLATION: Final = "23505"

# SQLSTATE, or its class of two characters -> what is wrong and what to do.
_MEANINGS: Final = {
    "28P01": "refused the password: correct it in the URL (or PGPASSWORD, ~/.pgpass)",
    "28": "refused this user: check the user name and pg_hba.conf",
    "3D000": "has no database of that name: create it, or correct the URL",
    "42P01": "lacks a table: pass create_tables=True, or run `fastmcp-feedback db upgrade`",
    "42703": "lacks a column: pass create_tables=True, or run `fastmcp-feedback db upgrade`",
    "42501": "does not allow this: grant the user what it needs (CREATE for new tables, else INSERT, SELECT, UPDATE, DELETE)",
    "25006": "is read-only (a standby, or default_transaction_read_only): name the primary server",
    "53100": "has a full disk: free some space or prune",
    "53300": "has no connection left: raise max_connections or use PgBouncer",
    "53": "is short of resources",
    "57014": "took longer than the statement timeout",
    "57": "is shutting down or starting",
    "40": "asked for another attempt (a conflict between transactions)",
    "55P03": "holds a lock that another process does not give up",
    "08": "dropped the connection",
}

# A record's own fault, by class of SQLSTATE: data, integrity, limits of a row.
_DATA_CLASSES: Final = frozenset({"22", "23", "54"})


def sqlstate(exc: BaseException) -> str | None:
    """The error's SQLSTATE, None when it did not come from the server."""
    state = getattr(exc, "sqlstate", None)
    return state if isinstance(state, str) else None


def is_data_error(exc: BaseException) -> bool:
    """Would the same rows fail again?"""
    state = sqlstate(exc)
    if state is not None:
        return state[:2] in _DATA_CLASSES
    return type(exc).__name__ == "DataError"  # the driver could not encode a value


def is_lost(exc: BaseException) -> bool:
    """Has the connection gone, so that a new one may succeed?"""
    state = sqlstate(exc)
    if state is not None:
        return state.startswith(("08", "57P"))
    return isinstance(exc, ConnectionError) or type(exc).__name__ in {
        "InterfaceError",
        "ConnectionDoesNotExistError",
        "InternalClientError",
    }


def explain(exc: BaseException, shown: str) -> SinkUnavailable:
    """The error in plain words: what, why, and what to do."""
    state = sqlstate(exc)
    meaning = (_MEANINGS.get(state) or _MEANINGS.get(state[:2])) if state is not None else None
    if meaning is None and isinstance(exc, TimeoutError):
        meaning = "did not answer in time"
    elif meaning is None and isinstance(exc, OSError):
        meaning = f"cannot be reached ({exc.strerror or exc}): check host and port, and that the server runs"
    elif meaning is None and is_lost(exc):
        meaning = _MEANINGS["08"]
    return SinkUnavailable(f"{shown} {meaning or f'refused a statement ({type(exc).__name__}: {exc})'}")
