"""Ends a test process that hangs where no signal helps, so that a run ends and says where.

The limit of pytest-timeout is an exception raised into the main thread. What waits for ever while that exception passes
(a loop that waits for a task, a thread that is joined) is not reached by it a second time.
"""

from __future__ import annotations

import faulthandler
from collections.abc import Generator
from typing import Final

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key

LIMIT_S: Final = 60.0  # as `timeout` in pyproject.toml
_GRACE_S: Final = 45.0

Phase = Generator[None, object, object]


def _watched(item: pytest.Item) -> Phase:
    """Write the stacks of all threads and end this process when one phase of the test takes far too long."""
    marker = item.get_closest_marker("timeout")
    limit_s = float(marker.args[0]) if marker is not None and marker.args else LIMIT_S
    faulthandler.dump_traceback_later(limit_s + _GRACE_S, exit=True, file=item.config.stash[fault_handler_stderr_fd_key])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Phase:
    """Watch what comes before the test."""
    return (yield from _watched(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Phase:
    """Watch the test."""
    return (yield from _watched(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Phase:
    """Watch what comes after the test; with the last one, also what the fixtures of the whole run take down."""
    return (yield from _watched(item))
