"""Shaping: turns what was captured into a record. Pure functions, no I/O, no FastMCP."""
