"""The server to call again: an app in this process, a command, or a URL."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import shutil
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from fastmcp import Client, FastMCP
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.server import create_proxy
from fastmcp.server.providers.proxy import FastMCPProxy

from ..proxy.children import Children

_NOT_FOUND: Final = 127
_ENDING_WAIT_S: Final = 2.0
_LOOK_EVERY_S: Final = 0.05


class ServerError(Exception):
    """The server cannot be had; the text is one line for a person, `code` the exit code."""

    def __init__(self, text: str, hint: str = "", code: int = 1) -> None:
        super().__init__(text)
        self.hint = hint
        self.code = code


@dataclass(frozen=True, slots=True)
class Target:
    """Which server. Exactly one of the three is given."""

    app: str | None = None
    url: str | None = None
    command: Sequence[str] = ()
    headers: Mapping[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Is exactly one given?

        Raises:
            ServerError: none, or more than one.
        """
        if sum(map(bool, (self.app, self.url, self.command))) != 1:
            raise ServerError("say which server to call: --server module:app, --url URL, or -- COMMAND ARGS...", code=2)


@dataclass(frozen=True, slots=True)
class Server:
    """A server that can be called: `app` takes a recorder, `tools` are its tools by name."""

    app: Any
    tools: Mapping[str, Any]


def split_app_name(text: str) -> tuple[str, str]:
    """Module (or file) and name of a server given as `module:app`.

    >>> split_app_name("studio.server:app"), split_app_name("server.py:app")
    (('studio.server', 'app'), ('server.py', 'app'))

    Raises:
        ServerError: it has another form.
    """
    module, _, name = text.rpartition(":")
    parts = module.split(".") if not module.endswith(".py") else ["file"]
    if not name.isidentifier() or not all(part.isidentifier() for part in parts):
        raise ServerError(f"{text!r} is not of the form module:app or file.py:app", code=2)
    return module, name


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


@asynccontextmanager
async def connect(target: Target, timeout_s: float) -> AsyncIterator[Server]:
    """Start or reach the server and ask for its tools.

    Raises:
        ServerError: it does not start, does not answer within `timeout_s` seconds, or is no MCP server.
    """
    target.check()
    if target.app:
        app = load_app(target.app)
        yield Server(app, await _tools(app, target.app, timeout_s))
    elif target.url:
        transport = StreamableHttpTransport(target.url, headers=dict(target.headers))
        tools = await _tools(transport, target.url, timeout_s)
        yield Server(create_proxy(transport), tools)
    else:
        async with _started(target.command, timeout_s) as server:
            yield server


@asynccontextmanager
async def _started(command: Sequence[str], timeout_s: float) -> AsyncIterator[Server]:
    if shutil.which(command[0]) is None:
        raise ServerError(f"command not found: {command[0]}", code=_NOT_FOUND)
    children = Children(command)
    try:
        child = children.child()
        try:
            tools = await _tools(child.transport, command[0], timeout_s)
        except ServerError as exc:
            ending = await _ending(children)
            if ending is None:
                raise
            raise ServerError(f"the server does not start: {ending}", exc.hint) from exc
        yield Server(FastMCPProxy(client_factory=children.client), tools)
    finally:
        await children.close()


async def _ending(children: Children) -> str | None:
    """How the command ended; its last word may need a moment."""
    child = children.child()
    for _ in range(int(_ENDING_WAIT_S / _LOOK_EVERY_S)):
        if child.ending is not None:
            return child.ending.describe(children.command)
        await asyncio.sleep(_LOOK_EVERY_S)
    return None


async def _tools(where: Any, name: str, timeout_s: float) -> dict[str, Any]:
    found = await _list_tools(where, timeout_s)
    if isinstance(found, TimeoutError):
        raise ServerError(f"{name} did not answer within {timeout_s:g} s", "a slow start needs a larger --timeout") from found
    if isinstance(found, Exception):
        raise ServerError(f"{name} does not answer as an MCP server: {str(found) or type(found).__name__}") from found
    return found


async def _list_tools(where: Any, timeout_s: float) -> dict[str, Any] | Exception:
    """The tools by name, or what kept the server from answering."""
    try:
        async with asyncio.timeout(timeout_s), Client(where) as client:
            return {tool.name: tool for tool in await client.list_tools()}
    except Exception as exc:  # noqa: BLE001 - transports raise anything; the error is the value
        return exc
