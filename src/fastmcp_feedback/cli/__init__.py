"""The command line: `fastmcp-feedback`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; exit codes: 0 done, 1 could not, 2 asked wrongly."""
    from .app import run  # noqa: PLC0415 - `import fastmcp_feedback.cli` stays cheap

    sys.exit(run(sys.argv[1:]))
