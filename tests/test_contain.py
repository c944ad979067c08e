"""Our own warnings never wait for a handler of the host."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator

import pytest

from fastmcp_feedback import contain
from support.waiting import wait_until

Contained = list[tuple[str, BaseException]]


class Stuck(logging.Handler):
    """Takes a line only when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.let = threading.Event()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.let.wait()
        self.lines.append(record.getMessage())


@pytest.fixture
def stuck() -> Iterator[Stuck]:
    """A handler of ours that is stuck until the test lets it go."""
    handler = Stuck()
    contain.logger.addHandler(handler)
    yield handler
    handler.let.set()
    wait_until(lambda: not contain._log.busy)
    contain.logger.removeHandler(handler)


def test_a_stuck_handler_holds_up_nobody_and_gets_its_lines_later(stuck: Stuck) -> None:
    """Warnings from any thread return; the lines come in their order once the handler goes on."""
    for n in range(20):
        contain.warn_once(f"place {n}", "line %d", n)
    stuck.let.set()
    wait_until(lambda: stuck.lines == [f"line {n}" for n in range(20)])


def test_behind_a_stuck_handler_a_bounded_number_of_lines_waits(stuck: Stuck) -> None:
    """What comes beyond is dropped, so that memory stays bounded."""
    for n in range(1000):
        contain.warn_once(f"place {n}", "line %d", n)
    assert contain._log.waiting <= 101


def test_the_host_finds_a_line_in_its_log_when_the_warning_returns(caplog: pytest.LogCaptureFixture) -> None:
    """With a handler that takes lines, nothing is late."""
    contain.warn_once("place", "mind the %s", "gap")
    assert caplog.messages == ["mind the gap"]


def test_an_error_is_logged_once_a_minute_and_counted_always(caplog: pytest.LogCaptureFixture, contained: Contained) -> None:
    """The second one within the minute only counts."""
    for _ in range(3):
        with contain.contain("a hook"):
            raise ValueError("no")
    assert caplog.messages == ["a hook failed: ValueError"]
    assert contain.counts["a hook"] == len(contained) == 3


def test_base_exceptions_pass() -> None:
    """Cancellation and exit are not ours to swallow."""
    with pytest.raises(KeyboardInterrupt), contain.contain("a hook"):
        raise KeyboardInterrupt
