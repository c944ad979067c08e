"""What the command line shows and does: `status` of a spool directory, and `replay` of what nobody will replay by itself."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...codec import UnreadableRecord, decode_record
from ...sink import RecordsRejected
from .folder import Folder, NoLocks
from .holdings import discard
from .recovery import Claimer
from .segment import Segment

_BATCH = 500
_BATCH_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class SpoolStatus:
    """What lies in a spool directory.

    `owed` counts records by the name of the sink that waits for them; `running` counts calls that were running when
    their process last wrote. `owners_alive` counts files of live processes, `orphans` those of dead ones;
    `oldest` is when the oldest file was begun, in UTC. `damaged` counts places that cannot be read.
    """

    segments: int = 0
    owed: dict[str, int] = field(default_factory=dict)
    running: int = 0
    size_bytes: int = 0
    oldest: datetime | None = None
    owners_alive: int = 0
    orphans: int = 0
    damaged: int = 0


@dataclass(frozen=True, slots=True)
class ReplayCounts:
    """What `replay` did: records stored and rejected, and files that live processes still own."""

    stored: int = 0
    rejected: int = 0
    unreadable: int = 0
    busy_segments: int = 0


def status(directory: str | os.PathLike[str]) -> SpoolStatus:
    """Look at a spool directory without changing anything.

    Raises:
        FileNotFoundError: there is no such directory.

    >>> import tempfile
    >>> status(tempfile.mkdtemp()).segments
    0
    """
    folder = _existing(directory)
    owed: Counter[str] = Counter()
    running = size = alive = damaged = 0
    paths = folder.segments()
    for path in paths:
        segment = _read(path)
        if segment is None:  # finished meanwhile
            continue
        owed.update({name: count for name, count in segment.on_disk.items() if count})
        running += len(segment.starts)
        damaged += segment.damaged
        size += segment.size
        alive += not _is_orphan(folder, path)
    return SpoolStatus(len(paths), dict(owed), running, size, _begun(paths), alive, len(paths) - alive, damaged)


async def replay(
    directory: str | os.PathLike[str],
    sink: Any,
    *,
    names: Collection[str] | None = None,
    progress: Callable[[int], None] = lambda _stored: None,
) -> ReplayCounts:
    """Bring what dead processes left for a sink to it, oldest first, and delete what is finished.

    Args:
        directory: The spool.
        sink: Where the records go; an exception of its `write` ends the replay, nothing is lost.
        names: The sinks in whose place it stands; by default all of its type, whatever their position.
        progress: Told the number of records stored so far.

    Raises:
        FileNotFoundError: there is no such directory.
        NoLocks: the file system cannot tell whether a file's owner lives.
    """
    folder = _existing(directory)
    wanted = frozenset(names) if names is not None else _names_of_type(folder, type(sink).__name__)
    claimed = Claimer(folder, wanted, lambda: None).claim(())
    stored = rejected = unreadable = 0
    with ExitStack() as closing:
        for segment in claimed.segments:
            closing.callback(_give_back, segment)
        for segment in claimed.segments:
            for name in sorted(wanted):
                while segment.on_disk[name]:
                    done, bad, broken = await _replay_batch(segment, name, sink)
                    stored, rejected, unreadable = stored + done, rejected + bad, unreadable + broken
                    progress(stored)
    return ReplayCounts(stored, rejected, unreadable, sum(not _is_orphan(folder, path) for path in folder.segments()))


async def _replay_batch(segment: Segment, name: str, sink: Any) -> tuple[int, int, int]:
    records, positions, broken = [], [], 0
    for position, data in segment.take(name, _BATCH, _BATCH_BYTES):
        try:
            records.append(decode_record(data or b""))
            positions.append(position)
        except UnreadableRecord:
            segment.settle(name, position)
            broken += 1
    rejected = 0
    if records:
        try:
            await sink.write(records)
        except RecordsRejected as exc:
            rejected = len(exc.rejected)
    for position in positions:
        segment.settle(name, position)
    segment.write_acks()
    return len(records) - rejected, rejected, broken


def _give_back(segment: Segment) -> None:
    if segment.finished:
        discard(segment)
    else:
        os.close(segment.fd)


def _existing(directory: str | os.PathLike[str]) -> Folder:
    folder = Folder(directory)
    if not folder.path.is_dir():
        raise FileNotFoundError(f"there is no spool directory {folder.path}")
    return folder


def _names_of_type(folder: Folder, type_name: str) -> frozenset[str]:
    names: set[str] = set()
    for path in folder.segments():
        segment = _read(path)
        if segment is not None:
            names |= segment.owed_to()
    return frozenset(name for name in names if name.rpartition("-")[0] == type_name)


def _read(path: Path) -> Segment | None:
    """The index of a file, read only."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        segment = Segment(path, fd, claimed=True)
        segment.load(lambda: None)
    finally:
        os.close(fd)
    return segment


def _is_orphan(folder: Folder, path: Path) -> bool:
    try:
        fd = folder.open_orphan(path)
    except NoLocks:
        return False
    if fd is None:
        return False
    os.close(fd)
    return True


def _begun(paths: list[Path]) -> datetime | None:
    digits = paths[0].name.partition("-")[0] if paths else ""
    return datetime.fromtimestamp(int(digits) / 1e9, UTC) if digits.isdigit() else None
