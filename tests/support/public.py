"""The public names as committed: a change to one of these lists is a decision, and belongs into the changelog."""

from __future__ import annotations

from typing import Final

PUBLIC_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "fastmcp_feedback": ("__version__",),
}
