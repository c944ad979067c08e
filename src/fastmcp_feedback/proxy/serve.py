"""Puts the proxy together."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastmcp import FastMCP
from fastmcp.server.providers.proxy import ProxyMetadataMiddleware

from ..addresses import is_loopback
from ..instrumentation import default_identity_resolver, instrument
from ..sink import SinkUnavailable
from ..store import DatabaseSink
from ..store.location import hide_password
from ..store.migrations import ForeignTables
from .children import Child
from .ends import serve_http, serve_stdio
from .passing import Passing, PassingProvider
from .telling import ProxyError, tell
from .upstream import RemoteUpstream, Upstream, Upstreams


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
        # Over stdio the end of the command is the end of the proxy; over HTTP other clients go on.
        upstreams = Upstreams(_maker(options, Path(folder)), _tell_end if options.http else None)
        passing = Passing(upstreams)
        server = _build(options, upstreams, passing)
        recorder = instrument(
            server, [sink], mode=options.mode, identity_resolver=default_identity_resolver, enricher=passing.describe_server
        )
        try:
            if options.http is not None:
                await serve_http(server, options.http, options.token, lambda: _tell_address(options))
                return 0
            return await serve_stdio(server, recorder, upstreams.current())
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


def _tell_address(options: ProxyOptions) -> None:
    assert options.http is not None
    host, port = options.http
    tell(f"http://{f'[{host}]' if ':' in host else host}:{port}/mcp, recording to {hide_password(options.database_url)}")


def _tell_end(upstream: Upstream) -> None:
    if isinstance(upstream, Child):
        upstream.tell_end()
