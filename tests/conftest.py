"""What every test gets: containment made loud, hypothesis profiles, a free port."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from datetime import timedelta

import hypothesis
import pytest

from fastmcp_feedback import contain

pytest_plugins = ["support.watchdog"]

ContainedErrors = list[tuple[str, BaseException]]

# One hypothesis profile for each purpose; choose with HYPOTHESIS_PROFILE. No deadline: a shared machine pauses.
hypothesis.settings.register_profile("ci", deadline=None, max_examples=50, print_blob=True)
hypothesis.settings.register_profile("quick", deadline=None, max_examples=10)
hypothesis.settings.register_profile("thorough", deadline=timedelta(seconds=5), max_examples=2000, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture
def contained() -> ContainedErrors:
    """The errors that the recorder kept from the host during this test, as (place, exception).

    A test that takes this fixture expects such errors and looks at them; in any other test one is a failure.
    """
    return []


@pytest.fixture(autouse=True)
def _contained_errors_are_loud(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail the test when the recorder swallowed an error that the test did not ask for."""
    expected = "contained" in request.fixturenames
    seen: ContainedErrors = request.getfixturevalue("contained") if expected else []
    scrubber = contain._scrub

    def observe(where: str, exc: BaseException) -> None:
        seen.append((where, exc))

    contain.forget()
    contain.on_contained.append(observe)
    yield
    contain.on_contained.remove(observe)
    contain._scrub = scrubber
    contain.forget()
    if seen and not expected:
        where, exc = seen[0]
        message = f"{len(seen)} error(s) were contained; the first one in {where!r}: {exc!r}"
        raise AssertionError(message) from exc


@pytest.fixture
def free_port() -> int:
    """A TCP port of 127.0.0.1 that nothing listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
