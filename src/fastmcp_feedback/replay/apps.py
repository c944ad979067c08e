"""A server imported into this process."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

from fastmcp import FastMCP

from .app_name import ServerError, split_app_name


def load_app(text: str) -> FastMCP[Any]:
    """The FastMCP server that a module or file holds. Imports it, with the current folder first on the path.

    Raises:
        ServerError: there is no such module or name, importing it fails, or it is no FastMCP server.
    """
    module, name = split_app_name(text)
    loaded = _load(module)
    if isinstance(loaded, BaseException):
        raise ServerError(f"{module} cannot be imported: {type(loaded).__name__}: {loaded}") from loaded
    found = getattr(loaded, name, None)
    if not isinstance(found, FastMCP):
        what = "has no" if found is None else f"is a {type(found).__name__}, not a FastMCP server:"
        raise ServerError(f"{module} {what} {name}", "name the variable that holds the server: module:app")
    return found


def _load(module: str) -> Any:
    """The module, or what kept it from being imported."""
    try:
        return _load_file(Path(module)) if module.endswith(".py") else _load_module(module)
    except SystemExit:
        return RuntimeError("it ended the process (is its run() behind `if __name__`?)")
    except Exception as exc:  # noqa: BLE001 - a module may raise anything; the error is the value
        return exc


def _load_module(module: str) -> Any:
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(module)


def _load_file(path: Path) -> Any:
    if not path.is_file():
        raise FileNotFoundError("there is no such file")
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module
