"""The server to call again: an app in this process, a command, or a URL."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals
from tempfile import TemporaryDirectory
from typing import Any, Final

from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

from ..proxy import child
from .app_name import ServerError
from .apps import load_app

_NOT_FOUND: Final = 127
_ENDING_WAIT_S: Final = 2.0
_LOOK_EVERY_S: Final = 0.05


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


@asynccontextmanager
async def connect(target: Target, timeout_s: float) -> AsyncIterator[Server]:
    """Start or reach the server and ask for its tools.

    Raises:
        ServerError: it does not start, does not answer within `timeout_s` seconds, or is no MCP server.
    """
    target.check()
    async with AsyncExitStack() as stack:
        if target.app:
            app = load_app(target.app)
            yield Server(app, await _tools(stack, Client(app), target.app, timeout_s))
            return
        if target.url:
            client: Client[Any] = Client(StreamableHttpTransport(target.url, headers=dict(target.headers)))
            tools = await _tools(stack, client, target.url, timeout_s)
        else:
            client, tools = await _started(stack, target.command, timeout_s)
        yield Server(_proxy(client), tools)


async def _started(stack: AsyncExitStack, command: Sequence[str], timeout_s: float) -> tuple[Client[Any], dict[str, Any]]:
    if shutil.which(command[0]) is None:
        raise ServerError(f"command not found: {command[0]}", code=_NOT_FOUND)
    status = Path(stack.enter_context(TemporaryDirectory(prefix="fastmcp-feedback-"))) / "status.json"
    status.touch()
    arguments = ["-S", "-E", child.__file__, str(status), *command]
    transport = StdioTransport(sys.executable, arguments, env=dict(os.environ), cwd=str(Path.cwd()), keep_alive=False)
    client: Client[Any] = Client(transport)
    try:
        return client, await _tools(stack, client, command[0], timeout_s)
    except ServerError as exc:
        ending = await _ending(status, command[0]) if not isinstance(exc.__cause__, TimeoutError) else None
        if ending is None:
            raise
        raise ServerError(f"the server does not start: {ending}") from exc


async def _ending(status: Path, name: str) -> str | None:
    """How the command ended; its last word may need a moment."""
    for _ in range(int(_ENDING_WAIT_S / _LOOK_EVERY_S)):
        found = _read(status)
        if "error" in found:
            return f"{name}: {found['error']}"
        if "code" in found:
            code = int(found["code"])
            return f"{name} ended with exit code {code}" if code >= 0 else f"{name} was ended by {Signals(-code).name}"
        await asyncio.sleep(_LOOK_EVERY_S)
    return None


def _read(status: Path) -> dict[str, Any]:
    return dict(json.loads(status.read_text(encoding="utf-8") or "{}"))


def _proxy(client: Client[Any]) -> Any:
    """A server that passes everything on to a connected client, so that every request goes to the same session."""
    try:
        from fastmcp.server import create_proxy  # noqa: PLC0415 - FastMCP 3 and 4
    except ImportError:
        return FastMCP.as_proxy(client)  # type: ignore[attr-defined,unused-ignore]  # FastMCP 2
    return create_proxy(client)


async def _tools(stack: AsyncExitStack, client: Client[Any], name: str, timeout_s: float) -> dict[str, Any]:
    found = await _connected(stack, client, timeout_s)
    if isinstance(found, TimeoutError):
        raise ServerError(f"{name} did not answer within {timeout_s:g} s", "a slow start needs a larger --timeout") from found
    if isinstance(found, Exception):
        raise ServerError(f"{name} does not answer as an MCP server: {str(found) or type(found).__name__}") from found
    return found


async def _connected(stack: AsyncExitStack, client: Client[Any], timeout_s: float) -> dict[str, Any] | Exception:
    """Connect until the stack is left; the tools by name, or what kept the server from answering."""
    try:
        async with asyncio.timeout(timeout_s):
            await stack.enter_async_context(client)
            return {tool.name: tool for tool in await client.list_tools()}
    except Exception as exc:  # noqa: BLE001 - transports raise anything; the error is the value
        return exc
