"""Signal handlers: in place while a server runs, and taken back so that the host finds its own."""

from __future__ import annotations

import signal
from typing import Any

import pytest
from fastmcp import Client

from fastmcp_feedback.instrumentation import MemorySink, instrument
from support.studio import studio


@pytest.fixture(autouse=True)
def _handlers_as_before() -> Any:
    """A test leaves SIGTERM as it found it."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


async def test_sigint_s_handler_is_the_host_s_again_when_the_last_server_has_ended() -> None:
    """Whichever of two ends first; ours calls the host's meanwhile."""
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits "ignore"
    before = signal.getsignal(signal.SIGINT)
    apps = [studio(), studio()]
    recorders = [instrument(app, [MemorySink()]) for app in apps]
    async with Client(apps[0]):
        ours = signal.getsignal(signal.SIGINT)
        assert ours != before
        async with Client(apps[1]):
            assert signal.getsignal(signal.SIGINT) == ours
        assert signal.getsignal(signal.SIGINT) == ours
    assert signal.getsignal(signal.SIGINT) == before
    signal.signal(signal.SIGINT, inherited)
    for recorder in recorders:
        await recorder.aclose()


async def test_a_host_s_own_handlers_stay() -> None:
    """SIGTERM's when the host has one, and a SIGINT that is ignored."""

    def mine(_number: int, _frame: Any) -> None:
        raise AssertionError

    signal.signal(signal.SIGTERM, mine)
    interrupt = signal.signal(signal.SIGINT, signal.SIG_IGN)
    app = studio()
    recorder = instrument(app, [MemorySink()])
    try:
        async with Client(app):
            assert signal.getsignal(signal.SIGTERM) is mine
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, interrupt)
    await recorder.aclose()


async def test_sigint_flushes_and_then_does_what_it_did_before() -> None:
    """Records are written before the host's handler sees the signal."""
    written: list[int] = []
    sink = MemorySink()
    before = signal.signal(signal.SIGINT, lambda _number, _frame: written.append(len(sink.calls)))
    app = studio()
    recorder = instrument(app, [sink])
    try:
        async with Client(app) as client:
            await client.call_tool("ping", {})
            signal.raise_signal(signal.SIGINT)
        assert written == [1]
    finally:
        signal.signal(signal.SIGINT, before)
    await recorder.aclose()
