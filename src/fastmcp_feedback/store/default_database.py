"""The database that the command line, the proxy and the feedback tools share when none is named."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from platformdirs import user_data_path

DATABASE_ENV_VAR: Final = "FASTMCP_FEEDBACK_DB"


def database_url(name: str | os.PathLike[str] | None = None) -> str:
    """The URL of a database given as a URL, as a file name, or not at all.

    Without a name it is that of the environment variable `FASTMCP_FEEDBACK_DB`, else `calls.db` in the user's data folder,
    which is made when it is missing, for its owner only.

    >>> database_url("postgresql://db.example/calls")
    'postgresql://db.example/calls'
    """
    chosen = os.fspath(name) if name is not None else os.environ.get(DATABASE_ENV_VAR, "").strip()
    if "://" in chosen:
        return chosen
    if chosen:
        return f"sqlite:///{Path(chosen).expanduser().absolute()}"
    folder = user_data_path("fastmcp-feedback", appauthor=False)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return f"sqlite:///{folder / 'calls.db'}"
