"""Records every tool call of an MCP server, tells why calls failed, and ties feedback to the calls it is about.

Start reading at `fastmcp_feedback.instrumentation`: it assembles the road that a record travels, from left to right:
capture, shaping, delivery, sinks, store; linking and query read it back.
"""

from .version import __version__

__all__ = ["__version__"]
