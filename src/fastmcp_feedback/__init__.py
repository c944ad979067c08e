"""Flight recorder and feedback loop for FastMCP servers.

    capture -> shaping (classify, redact, trim) -> delivery (queue, spool, retry) -> sinks -> store -> query -> CLI, pages, MCP tools

Names load on first use: `import fastmcp_feedback` alone loads neither FastMCP nor a database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .version import __version__

if TYPE_CHECKING:
    from .feedback.register import add_feedback_tools, create_feedback_server
    from .insight import add_insight_tools
    from .instrumentation import instrument
    from .web.mount import mount_dashboard

_LATE = {
    "add_feedback_tools": "fastmcp_feedback.feedback.register",
    "add_insight_tools": "fastmcp_feedback.insight",
    "create_feedback_server": "fastmcp_feedback.feedback.register",
    "instrument": "fastmcp_feedback.instrumentation",
    "mount_dashboard": "fastmcp_feedback.web.mount",
}

__all__ = ["__version__", "add_feedback_tools", "add_insight_tools", "create_feedback_server", "instrument", "mount_dashboard"]


def __getattr__(name: str) -> Any:
    if name in _LATE:
        from importlib import import_module  # noqa: PLC0415 - only when a late name is asked for

        value = getattr(import_module(_LATE[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})
