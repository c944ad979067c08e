"""The FastMCP that the tests run on, for tests whose expectation differs between versions."""

from __future__ import annotations

from importlib.metadata import version
from typing import Final

FASTMCP: Final = tuple(int(part) for part in version("fastmcp").split(".")[:2])
IS_V2: Final = FASTMCP < (3, 0)
IS_V3: Final = (3, 0) <= FASTMCP < (4, 0)
IS_V4: Final = FASTMCP >= (4, 0)
