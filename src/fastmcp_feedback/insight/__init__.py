"""MCP tools that answer questions about recorded calls, for coding agents."""

from .register import add_insight_tools

__all__ = ["add_insight_tools"]
