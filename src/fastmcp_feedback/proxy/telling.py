"""What the operator of the proxy is told."""

from __future__ import annotations

import sys


class ProxyError(Exception):
    """The proxy cannot run; the text is one line for a person."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.code = code


def tell(line: str) -> None:
    """One line on stderr: stdout belongs to the protocol."""
    sys.stderr.write(f"fastmcp-feedback proxy: {line}\n")
    sys.stderr.flush()
