"""Capture: sees the call. The only stage that knows FastMCP."""
