"""Writing to a pipe that perhaps nobody reads, so that others who write to it still find room.

A server's own log lines go to the same stderr, from its event loop: were the pipe full of our lines, the next of those
would block the server. So at most half of the pipe holds what nobody has read yet.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
import time
from typing import Any, Final

try:
    import fcntl
    import termios
except ImportError:  # pragma: no cover - Windows: written without looking
    fcntl = termios = None  # type: ignore[assignment]

_FIRST_LOOK_S: Final = 0.001
_LAST_LOOK_S: Final = 0.1


def write_all(fd: int, data: bytes) -> None:
    """Write everything; on a pipe or socket wait for readers while it is half full."""
    size = _capacity(fd)
    if size is None:
        sent = os.write(fd, data)
        while sent < len(data):
            sent += os.write(fd, data[sent:])
        return
    half = max(size // 2, 1)
    while data:
        piece = data[:half]
        _wait_for_room(fd, half - len(piece))
        data = data[os.write(fd, piece) :]


def _wait_for_room(fd: int, at_most: int) -> None:
    """Block until no more bytes than that are unread."""
    pause_s = _FIRST_LOOK_S
    while _unread(fd) > at_most:
        time.sleep(pause_s)
        pause_s = min(pause_s * 2, _LAST_LOOK_S)


def _capacity(fd: int) -> int | None:
    """Bytes that a pipe or a local socket holds; None for anything else, and where the system does not tell."""
    if not hasattr(fcntl, "F_GETPIPE_SZ"):
        return None
    try:
        mode = os.fstat(fd).st_mode
        if stat.S_ISFIFO(mode):
            return fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ)
        if stat.S_ISSOCK(mode):
            with socket.socket(fileno=os.dup(fd)) as double:
                return double.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    except OSError:
        return None
    return None


def _unread(fd: int) -> int:
    """Bytes that were written and not read yet."""
    asked: Any = termios.FIONREAD if stat.S_ISFIFO(os.fstat(fd).st_mode) else termios.TIOCOUTQ
    (count,) = struct.unpack("i", fcntl.ioctl(fd, asked, b"\0\0\0\0"))
    return int(count)
