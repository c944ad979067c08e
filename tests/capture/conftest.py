"""What the tests of capture share."""

from __future__ import annotations

import pytest

from support.capturing import Probe


@pytest.fixture
def probe() -> Probe:
    """A probe that has seen nothing."""
    return Probe()
