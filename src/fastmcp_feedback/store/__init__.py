"""The store: records in SQLite or PostgreSQL. Everything here loads on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .database_sink import DatabaseSink
    from .metadata import build_metadata

__all__ = ["DatabaseSink", "build_metadata"]

_LATE = {"DatabaseSink": "database_sink", "build_metadata": "metadata"}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        from importlib import import_module  # noqa: PLC0415 - the drivers load when a name is asked for

        value = getattr(import_module(f"{__name__}.{_LATE[name]}"), name)
        globals()[name] = value
        return value
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
