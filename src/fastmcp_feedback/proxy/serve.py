"""Puts the proxy together and runs it over stdio or HTTP until its client or its child ends."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.providers.proxy import ProxyMetadataMiddleware

from ..instrumentation import InstrumentationMiddleware, default_identity_resolver, instrument
from ..sink import SinkUnavailable
from ..store import DatabaseSink
from ..store.location import hide_password
from ..store.migrations import ForeignTables
from .children import Child, Ending
from .guard import Guard, is_loopback
from .opening import follow_upstream
from .passing import Passing, PassingProvider
from .upstream import RemoteUpstream, Upstream, Upstreams

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
    try:
        sink = DatabaseSink(options.database_url, create_tables=True)
        await sink.backend.prepare()
    except (SinkUnavailable, ForeignTables, ValueError, ImportError, OSError) as exc:
        raise ProxyError(f"the database cannot be used: {exc}") from exc
    with tempfile.TemporaryDirectory(prefix="fastmcp-feedback-") as folder:
        upstreams = Upstreams(_maker(options, Path(folder)))
        upstreams.on_ended(_tell_end)
        passing = Passing(upstreams)
        server = _build(options, upstreams, passing)
        recorder = instrument(
            server, [sink], mode=options.mode, identity_resolver=default_identity_resolver, enricher=passing.describe_server
        )
        try:
            if options.http is not None:
                await _serve_http(server, options)
                return 0
            return await _serve_stdio(server, recorder, upstreams.current())
        finally:
            await recorder.aclose()
            await upstreams.close()


def _check(options: ProxyOptions) -> None:
    if bool(options.command) == bool(options.url):
        raise ProxyError("say what to record: `-- COMMAND ARGS...` for a local server, or `--url URL` for a remote one", 2)
    if options.command and shutil.which(options.command[0]) is None:
        raise ProxyError(f"command not found: {options.command[0]}", 127)
    if options.http is not None and not is_loopback(options.http[0]) and not options.token:
        raise ProxyError(f"{options.http[0]} can be reached by others: give a --token that clients have to send", 2)


def _maker(options: ProxyOptions, folder: Path) -> Callable[[bool], Upstream]:
    over_http = options.http is not None

    def make(sessionless: bool) -> Upstream:
        shared = over_http and sessionless
        if options.command:
            return Child(options.command, folder, over_http=over_http, shared=shared)
        return RemoteUpstream(options.url or "", options.headers, over_http=over_http, shared=shared)

    return make


def _build(options: ProxyOptions, upstreams: Upstreams, passing: Passing) -> FastMCP[Any]:
    # stdout belongs to the protocol; what FastMCP has to say about failures is recorded anyway.
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    provider = PassingProvider(upstreams)
    server: FastMCP[Any] = FastMCP(options.name, middleware=[passing])
    server.provider_error_strategy = "raise"  # an upstream in trouble has no empty list of tools
    server.add_provider(provider)
    server.add_middleware(ProxyMetadataMiddleware(provider))
    return server


async def _serve_http(server: FastMCP[Any], options: ProxyOptions) -> None:
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


def _tell_end(upstream: Upstream) -> None:
    if isinstance(upstream, Child) and upstream.ending is not None:
        _tell(upstream.ending.describe(upstream.command))


async def _serve_stdio(server: FastMCP[Any], recorder: InstrumentationMiddleware, upstream: Upstream) -> int:
    follow_upstream(server, upstream)
    serving = asyncio.create_task(server.run_stdio_async(show_banner=False))
    if not isinstance(upstream, Child):
        await serving
        return 0
    _forward_signals(upstream)
    watching = asyncio.create_task(_wait_for_end(upstream))
    await asyncio.wait((serving, watching), return_when=asyncio.FIRST_COMPLETED)
    if watching.done():
        ending = watching.result()
        await asyncio.sleep(_LAST_WORDS_S)
        await recorder.aclose()
        # Reading stdin cannot be interrupted, so there is no orderly way out of here.
        _exit_like(ending, upstream.command)
    await serving
    if not upstream.started:
        watching.cancel()
        return 0
    closing = asyncio.create_task(upstream.close())
    await asyncio.wait((watching,), timeout=_CHILD_GRACE_S)
    await closing
    if not watching.done():
        watching.cancel()
        return 0
    code = watching.result().code
    return code if code >= 0 else 128 - code


async def _wait_for_end(child: Child) -> Ending:
    while True:
        ending = child.ending
        if ending is not None:
            return ending
        await asyncio.sleep(_LOOK_EVERY_S)


def _forward_signals(child: Child) -> None:
    """A signal to the proxy is meant for the command; its end is then ours."""
    loop = asyncio.get_running_loop()

    def forward(signum: int) -> None:
        if not child.send_signal(signum):
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
