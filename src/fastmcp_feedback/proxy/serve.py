"""Puts the proxy together and runs it over stdio or HTTP until its client or its child ends."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

import uvicorn
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.server import create_proxy
from fastmcp.server.providers.proxy import FastMCPProxy

from ..instrumentation import InstrumentationMiddleware, default_identity_resolver, instrument
from ..sink import SinkUnavailable
from ..store import DatabaseSink
from ..store.location import hide_password
from ..store.migrations import ForeignTables
from .children import Children, Ending
from .guard import Guard, is_loopback

_LOOK_EVERY_S = 0.1
_LAST_WORDS_S = 0.3  # answers to requests that died with the child go out first
_CHILD_GRACE_S = 5.0


class ProxyError(Exception):
    """The proxy cannot run; the text is one line for a person."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.code = code


@dataclass(frozen=True, slots=True)
class ProxyOptions:
    """What to stand in front of, and where to record. Exactly one of `command` and `url` is given."""

    database_url: str
    command: Sequence[str] = ()
    url: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    mode: str = "meta"
    name: str = "fastmcp-feedback-proxy"
    http: tuple[str, int] | None = None
    token: str | None = None


async def run(options: ProxyOptions) -> int:
    """Serve until the end; the exit code of the proxied command, or 0.

    Raises:
        ProxyError: bad options, an unknown command, or a database that cannot be written.
    """
    _check(options)
    children = Children(options.command) if options.command else None
    server = _build(options, children)
    try:
        sink = DatabaseSink(options.database_url, create_tables=True)
        await sink.backend.prepare()
    except (SinkUnavailable, ForeignTables, ValueError, ImportError, OSError) as exc:
        raise ProxyError(f"the database cannot be used: {exc}") from exc
    recorder = instrument(server, [sink], mode=options.mode, identity_resolver=default_identity_resolver)
    try:
        if options.http is not None:
            await _serve_http(server, options)
            return 0
        return await _serve_stdio(server, recorder, children)
    finally:
        await recorder.aclose()
        if children is not None:
            await children.close()


def _check(options: ProxyOptions) -> None:
    if bool(options.command) == bool(options.url):
        raise ProxyError("say what to record: `-- COMMAND ARGS...` for a local server, or `--url URL` for a remote one", 2)
    if options.command and shutil.which(options.command[0]) is None:
        raise ProxyError(f"command not found: {options.command[0]}", 127)
    if options.http is not None and not is_loopback(options.http[0]) and not options.token:
        raise ProxyError(f"{options.http[0]} can be reached by others: give a --token that clients have to send", 2)


def _build(options: ProxyOptions, children: Children | None) -> FastMCPProxy:
    # stdout belongs to the protocol; what FastMCP has to say about failures is recorded anyway.
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    if children is not None:
        return FastMCPProxy(client_factory=children.client, identity="upstream", name=options.name)
    transport = StreamableHttpTransport(options.url or "", headers=options.headers)
    return create_proxy(transport, name=options.name, identity="upstream")


async def _serve_http(server: FastMCPProxy, options: ProxyOptions) -> None:
    assert options.http is not None
    host, port = options.http
    app = Guard(server.http_app(), host=host, token=options.token)
    config = uvicorn.Config(app, host=host, port=port, log_level="warning", lifespan="on", timeout_graceful_shutdown=3)
    _tell(f"http://{host}:{port}/mcp, recording to {hide_password(options.database_url)}")
    await uvicorn.Server(config).serve()


def _tell(line: str) -> None:
    """One line for the operator; stdout belongs to the protocol."""
    sys.stderr.write(f"fastmcp-feedback proxy: {line}\n")
    sys.stderr.flush()


async def _serve_stdio(server: FastMCPProxy, recorder: InstrumentationMiddleware, children: Children | None) -> int:
    serving = asyncio.create_task(server.run_stdio_async(show_banner=False))
    if children is None:
        await serving
        return 0
    child = children.child()
    _forward_signals(children)
    watching = asyncio.create_task(_wait_for_end(children))
    await asyncio.wait((serving, watching), return_when=asyncio.FIRST_COMPLETED)
    if watching.done():
        ending = watching.result()
        await asyncio.sleep(_LAST_WORDS_S)
        await recorder.aclose()
        # Reading stdin cannot be interrupted, so there is no orderly way out of here.
        _exit_like(ending, children.command)
    await serving
    if not child.started:
        watching.cancel()
        return 0
    closing = asyncio.create_task(child.close())
    await asyncio.wait((watching,), timeout=_CHILD_GRACE_S)
    await closing
    if not watching.done():
        watching.cancel()
        return 0
    code = watching.result().code
    return code if code >= 0 else 128 - code


async def _wait_for_end(children: Children) -> Ending:
    while True:
        ending = children.child().ending
        if ending is not None:
            return ending
        await asyncio.sleep(_LOOK_EVERY_S)


def _forward_signals(children: Children) -> None:
    """A signal to the proxy is meant for the command; its end is then ours."""
    loop = asyncio.get_running_loop()

    def forward(signum: int) -> None:
        if not children.child().send_signal(signum):
            signal.signal(signum, signal.SIG_DFL)
            os.kill(os.getpid(), signum)

    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        loop.add_signal_handler(getattr(signal, name), forward, getattr(signal, name))


def _exit_like(ending: Ending, command: Sequence[str]) -> None:
    """End the process as the child ended, and say so."""
    _tell(ending.describe(command))
    if ending.code < 0:
        signal.signal(-ending.code, signal.SIG_DFL)
        os.kill(os.getpid(), -ending.code)
    # The client has not closed the connection: a child that is gone is a failure even when it says 0.
    os._exit(ending.code or 1)
