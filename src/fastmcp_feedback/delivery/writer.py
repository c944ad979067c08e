"""The writer thread: an event loop of our own on which every sink's runner lives."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import Future

from .runner import SinkRunner

_START_S = 10.0


def start_writer(runners: Sequence[SinkRunner]) -> asyncio.AbstractEventLoop:
    """Start the thread; its loop."""
    ready: Future[asyncio.AbstractEventLoop] = Future()
    threading.Thread(target=_run, args=(ready, runners), name="fastmcp-feedback-writer", daemon=True).start()
    return ready.result(_START_S)


def _run(ready: Future[asyncio.AbstractEventLoop], runners: Sequence[SinkRunner]) -> None:
    loop = asyncio.new_event_loop()
    tasks = [loop.create_task(runner.run()) for runner in runners]
    loop.call_soon(ready.set_result, loop)
    try:
        loop.run_forever()
    finally:
        for task in tasks:
            task.cancel()
        if tasks:  # a recorder may have no sink
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.close()


def abandon_and_stop(runners: Sequence[SinkRunner], done: Future[None]) -> None:
    """On the loop: give up what still waits, and end the thread."""
    for runner in runners:
        runner.abandon("closed")
    asyncio.get_running_loop().stop()
    done.set_result(None)
