"""Runs the proxy over stdio or HTTP until its client, its child or a signal ends it."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import uvicorn

from ..instrumentation import InstrumentationMiddleware
from .children import Child, Ending
from .guard import Guard
from .opening import follow_upstream
from .telling import ProxyError
from .upstream import Upstream

if TYPE_CHECKING:
    from fastmcp import FastMCP

_LOOK_EVERY_S = 0.1
_LAST_WORDS_S = 0.3  # answers to requests that died with the child go out first
_CHILD_GRACE_S = 5.0


class _Server(uvicorn.Server):
    """Ends in order: uvicorn's own raises the signal again before anybody else can clean up."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for signum in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(signum, self.handle_exit, signum, None)
        yield


async def serve_http(server: FastMCP[Any], address: tuple[str, int], token: str | None, on_ready: Callable[[], None]) -> None:
    """Serve until SIGINT or SIGTERM.

    Raises:
        ProxyError: the address cannot be used.
    """
    host, port = address
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as exc:
            raise ProxyError(f"cannot listen on {host}:{port}: {exc.strerror or exc}") from exc
        listener.listen(128)
        app = Guard(server.http_app(), host=host, token=token)
        config = uvicorn.Config(app, log_level="warning", lifespan="on", timeout_graceful_shutdown=3)
        on_ready()
        await _Server(config).serve(sockets=[listener])


async def serve_stdio(server: FastMCP[Any], recorder: InstrumentationMiddleware, upstream: Upstream) -> int:
    """Serve until stdin is closed or the child ends; the exit code."""
    follow_upstream(server, upstream)
    serving = asyncio.create_task(server.run_stdio_async(show_banner=False))
    if not isinstance(upstream, Child):
        await serving
        return 0
    _forward_signals(upstream)
    watching = asyncio.create_task(_wait_for_end(upstream))
    await asyncio.wait((serving, watching), return_when=asyncio.FIRST_COMPLETED)
    if watching.done():
        await asyncio.sleep(_LAST_WORDS_S)
        await recorder.aclose()
        # Reading stdin cannot be interrupted, so there is no orderly way out of here.
        _exit_like(upstream, watching.result())
    await serving
    if not upstream.started:
        watching.cancel()
        return 0
    upstream.tell_end()
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
            _exit_like(child, Ending(-signum))

    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        loop.add_signal_handler(getattr(signal, name), forward, getattr(signal, name))


def _exit_like(child: Child, ending: Ending) -> None:
    """End the process as the child ended, and say so unless it was told to."""
    if not child.signalled:
        child.tell_end(ending)
    shutil.rmtree(child.folder, ignore_errors=True)
    if ending.code < 0:
        signal.signal(-ending.code, signal.SIG_DFL)
        os.kill(os.getpid(), -ending.code)
    os._exit(ending.code)
