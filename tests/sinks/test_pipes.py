"""Half of a pipe that nobody reads stays free."""

from __future__ import annotations

import fcntl
import os
import socket
import threading
from collections.abc import Iterator

import pytest

from fastmcp_feedback.sinks import pipes
from support.waiting import wait_until

pytestmark = pytest.mark.skipif(not hasattr(fcntl, "F_GETPIPE_SZ"), reason="only Linux tells how full a pipe is")


@pytest.fixture(params=["pipe", "socket"])
def ends(request: pytest.FixtureRequest) -> Iterator[tuple[int, int]]:
    """The reading and the writing end."""
    if request.param == "pipe":
        reader, writer = os.pipe()
        yield reader, writer
        os.close(reader)
        os.close(writer)
    else:
        one, two = socket.socketpair()
        with one, two:
            yield one.fileno(), two.fileno()


def test_a_writer_stops_while_half_is_unread_and_goes_on_when_it_is_read(ends: tuple[int, int]) -> None:
    """Others can still write; nothing is lost, whatever the length of a line."""
    reader, writer = ends
    lines = [b"x" * 999 + b"\n"] * 200 + [b"y" * 500_000 + b"\n"]

    def write() -> None:
        for line in lines:
            pipes.write_all(writer, line)

    thread = threading.Thread(target=write)
    thread.start()
    half = (pipes._capacity(writer) or 0) // 2
    wait_until(lambda: pipes._unread(writer) > half - 5000)
    assert pipes._unread(writer) <= half
    assert thread.is_alive()
    assert os.write(writer, b"a line of the host\n")  # does not block
    expected, got = b"".join(lines), b""
    while len(got) < len(expected) + 19:
        got += os.read(reader, 65536)
    thread.join()
    assert got.replace(b"a line of the host\n", b"") == expected
