"""Runs the proxied command as its own child, so that its end is known: `child.py STATUS_FILE COMMAND ARGS...`.

FastMCP's stdio transport keeps its process to itself. This small parent inherits the transport's pipes, hands signals
on, and writes one line of JSON to the status file when the command ends. It is run by its path and imports nothing of
the package, so that it starts fast.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from types import FrameType

ALREADY_RUN = 75
FORWARDED = ("SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2")


def main(status_file: str, command: list[str]) -> int:
    """Run the command to its end; its exit code, 128 + n for a signal, 127 when it cannot be started.

    Only once: a transport that finds its process gone starts it again, and the end of the first would be lost.
    """
    if os.path.getsize(status_file):  # noqa: PTH202 - see `_write`
        return ALREADY_RUN
    child: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def forward(signum: int, _frame: FrameType | None) -> None:
        if child is None:
            early.append(signum)
        else:
            child.send_signal(signum)

    _end_with_parent()
    for name in FORWARDED:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), forward)
    try:
        child = subprocess.Popen(command)  # noqa: S603 - the operator's own command
    except OSError as exc:
        _write(status_file, {"error": exc.strerror or str(exc)})
        return 127
    for signum in early:
        child.send_signal(signum)
    _write(status_file, {"pid": os.getpid()})
    code = child.wait()
    _write(status_file, {"code": code})
    return code if code >= 0 else 128 - code


def _end_with_parent() -> None:
    """On Linux, get SIGTERM (and hand it on) when the proxy is killed and cannot say so."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes  # noqa: PLC0415 - only here

    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGTERM)


def _write(status_file: str, status: dict[str, object]) -> None:
    """Atomically, so that a reader never sees half a line."""
    draft = f"{status_file}.{os.getpid()}"
    with open(draft, "w", encoding="utf-8") as out:  # noqa: PTH123 - pathlib would double the start-up time
        json.dump(status, out)
    os.replace(draft, status_file)  # noqa: PTH105 - see above


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
