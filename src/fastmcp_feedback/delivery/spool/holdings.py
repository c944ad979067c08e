"""The segments that one recorder owns: which one is written, how many bytes they may take, what goes when they are too many."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ... import contain
from .folder import Folder
from .segment import Segment

OnLost = Callable[[str, int, int, str], None]


class Ticket(NamedTuple):
    """Where a record lies: what `settle` and `release` need."""

    segment: Segment
    position: int


class Counts(NamedTuple):
    """What one sink is owed: records of this process that are in memory too, or only on disk, and those of others."""

    held: int
    on_disk: int
    recovered: int


class Holdings:
    """Own and claimed segments, oldest first by name. Not thread-safe, apart from reading `segments` through a copy."""

    def __init__(self, folder: Folder, max_bytes: int, segment_bytes: int, on_lost: OnLost) -> None:
        self.segments: list[Segment] = []
        self.active: Segment | None = None
        self.others_bytes = 0
        self._folder = folder
        self._max_bytes = max_bytes
        self._segment_bytes = max(1, min(segment_bytes, max_bytes // 4))
        self._on_lost = on_lost

    def in_order(self) -> list[Segment]:
        """The segments, oldest first."""
        return sorted(self.segments, key=lambda segment: segment.path.name)

    @property
    def bytes_used(self) -> int:
        """Bytes of all segments in the directory, as far as known."""
        return self.others_bytes + sum(segment.size for segment in tuple(self.segments))

    def writable(self, adding_bytes: int) -> Segment | None:
        """The segment to append to, after making room; None when the directory is full of what is not ours to drop.

        Raises:
            OSError: no segment can be made.
        """
        active = self.active
        if active is not None and active.size >= self._segment_bytes:
            active.sealed = True
            self.active = None
        if self.active is None:
            self._folder.prepare()
            self.look_at_others()
        if not self._make_room(adding_bytes):
            contain.warn_once(
                f"spool full {self._folder.path}",
                "spool %s is full (spool_max_bytes=%d): records are kept in memory only",
                self._folder.path,
                self._max_bytes,
            )
            return None
        return self.active or self._begin()

    def _begin(self) -> Segment:
        path, fd, self.locked = self._folder.create()
        segment = Segment(path, fd, claimed=False)
        try:
            segment.begin()
        except OSError:
            discard(segment)
            raise
        self.segments.append(segment)
        self.active = segment
        return segment

    locked = True  # was the last file made lockable?

    def look_at_others(self) -> None:
        """Measure what other processes have in the directory."""
        self.others_bytes = max(0, self._folder.bytes_used() - sum(segment.size for segment in self.segments))

    def _make_room(self, adding_bytes: int) -> bool:
        while self.others_bytes + adding_bytes > self._max_bytes:
            if adding_bytes > self._max_bytes or not self._drop_orphan():
                return False
        while self.bytes_used + adding_bytes > self._max_bytes:
            self._drop(next((segment for segment in self.in_order() if segment is not self.active), self.segments[0]))
        return True

    def _drop(self, segment: Segment) -> None:
        """Delete a segment that is still owed, and count what was nowhere else."""
        lost = {name: count for name, count in segment.on_disk.items() if count}
        self.forget(segment)
        discard(segment)
        if lost:
            self._say_dropped(max(lost.values()))
        for name, count in lost.items():
            self._on_lost(name, 0 if segment.claimed else count, count if segment.claimed else 0, "spool_full")

    def _drop_orphan(self) -> bool:
        """Delete the oldest segment that nobody owns, not even we."""
        owned = {segment.path for segment in self.segments}
        for path in self._folder.segments():
            fd = None if path in owned else self._folder.open_orphan(path)
            if fd is None:
                continue
            orphan = Segment(path, fd, claimed=True)
            orphan.load(lambda: None)
            discard(orphan)
            self.look_at_others()
            self._say_dropped(max(orphan.on_disk.values(), default=0))
            return True
        return False

    def _say_dropped(self, count: int) -> None:
        contain.warn_once(
            f"spool dropped {self._folder.path}",
            "spool %s reached spool_max_bytes=%d: its oldest file with %d record(s) was dropped",
            self._folder.path,
            self._max_bytes,
            count,
        )

    def forget(self, segment: Segment) -> None:
        """The segment is no longer ours."""
        self.segments.remove(segment)
        if segment is self.active:
            self.active = None

    def look_after(self) -> None:
        """Write files anew that were deleted under us, and show those of running calls a sign of life.

        Raises:
            OSError: that is not possible.
        """
        self.look_at_others()
        for segment in self.segments:
            if not self._folder.still_there(segment.path, segment.fd):
                self._folder.prepare()
                segment.restore(self._folder.recreate(segment.path))
                contain.warn_once(f"spool gone {self._folder.path}", "spool %s: files were deleted; written anew", self._folder.path)
            if segment.starts and not segment.claimed:
                os.utime(segment.fd)  # how long a call ran is told by its file's last write

    def let_go(self) -> None:
        """Close all files and give up their locks."""
        for segment in tuple(self.segments):
            with suppress(OSError):
                os.close(segment.fd)
        self.segments.clear()
        self.active = None

    def paths(self) -> set[Path]:
        """Where the segments lie."""
        return {segment.path for segment in tuple(self.segments)}


def discard(segment: Segment) -> None:
    """Delete a segment's file; its lock goes last, so that nobody claims it meanwhile."""
    with suppress(OSError):
        segment.path.unlink()
    os.close(segment.fd)
