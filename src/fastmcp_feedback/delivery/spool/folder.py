"""The spool's directory: who may use it, creating and claiming segment files, and the locks that say who owns one.

A segment belongs to whoever holds its flock; the kernel gives it back when the owner dies, however it dies.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # pragma: no cover - Windows has no flock
    fcntl = None  # type: ignore[assignment]

SUFFIX: Final = ".spool"
_NEW: Final = ".new"
_CLAIM_LOCK: Final = "claim.lock"
_LEFTOVER_AFTER_S: Final = 600.0
_OPEN: Final = os.O_RDWR | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_BUSY: Final = frozenset({errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES})

HINTS: Final = {
    errno.ENOSPC: "free some space on that disk, or lower spool_max_bytes",
    errno.EDQUOT: "raise the quota, or lower spool_max_bytes",
    errno.EFBIG: "raise the limit on file sizes (ulimit -f)",
    errno.EROFS: "choose a directory on a file system that can be written",
    errno.EACCES: "let the server's user write there (chown), or choose another directory",
    errno.EPERM: "let the server's user write there (chown), or choose another directory",
    errno.ENOTDIR: "choose a directory; there is a file in the way",
    errno.EEXIST: "choose a directory; there is a file in the way",
}


class UnsafeFolder(OSError):
    """Others may write into the directory, so what lies in it cannot be trusted."""


class NoLocks(OSError):
    """The file system does not know flock: nobody can tell whether a segment's owner lives."""


class Folder:
    """A directory of segment files."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser().absolute()

    def prepare(self) -> None:
        """Make the directory (mode 0700) and check that only we write there.

        Raises:
            UnsafeFolder: it belongs to another user, or others may write into it.
            OSError: it cannot be made.
        """
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        info = self.path.stat()
        if hasattr(os, "geteuid") and info.st_uid != os.geteuid():
            raise UnsafeFolder(errno.EPERM, f"it belongs to another user (uid {info.st_uid})")
        if os.name == "posix" and info.st_mode & 0o022:
            raise UnsafeFolder(errno.EPERM, f"others may write into it (mode {stat.S_IMODE(info.st_mode):04o}); run: chmod 700 {self.path}")

    def create(self) -> tuple[Path, int, bool]:
        """A new, empty, locked segment file: its path, descriptor, and whether it is locked.

        Locked under another name first, so that nobody can take it for an orphan.

        Raises:
            OSError: it cannot be made.
        """
        path = self.path / f"{time.time_ns():020d}-{os.getpid()}-{secrets.token_hex(4)}{SUFFIX}"
        early = path.with_suffix(_NEW)
        fd = os.open(early, _OPEN | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            locked = _lock(fd)
            early.rename(path)
        except OSError:
            os.close(fd)
            with contextlib.suppress(OSError):
                early.unlink()
            raise
        return path, fd, locked

    def recreate(self, path: Path) -> int:
        """The same for a segment whose file was deleted under us.

        Raises:
            OSError: it cannot be made.
        """
        new, fd, _ = self.create()
        new.rename(path)
        return fd

    def segments(self) -> list[Path]:
        """Paths of the segment files, oldest first; none when the directory is away."""
        try:
            return sorted(entry for entry in self.path.iterdir() if entry.suffix == SUFFIX)
        except OSError:
            return []

    def bytes_used(self) -> int:
        """Bytes of all segment files together."""
        total = 0
        for path in self.segments():
            with contextlib.suppress(OSError):
                total += path.stat().st_size
        return total

    def open_orphan(self, path: Path) -> int | None:
        """Open and lock a segment whose owner is gone; None when somebody owns it or it is not ours to touch.

        Raises:
            NoLocks: nobody can tell.
        """
        try:
            fd = os.open(path, _OPEN)
        except OSError:
            return None
        try:
            if _lock_orphan(fd) and _is_ours(fd, path):
                return fd
        except NoLocks:
            os.close(fd)
            raise
        os.close(fd)
        return None

    @contextlib.contextmanager
    def claiming(self) -> Iterator[bool]:
        """Hold the right to claim orphans, one process at a time; False when another has it.

        Raises:
            NoLocks: nobody can tell.
        """
        try:
            fd = os.open(self.path / _CLAIM_LOCK, _OPEN | os.O_CREAT, 0o600)
        except OSError:
            yield False
            return
        try:
            yield _lock_orphan(fd)
        finally:
            os.close(fd)

    def still_there(self, path: Path, fd: int) -> bool:
        """Is the file of this descriptor still the one at this path?"""
        try:
            return os.path.samestat(path.stat(), os.fstat(fd))
        except OSError:
            return False

    def sweep_leftovers(self) -> None:
        """Delete files whose maker died between making and naming them."""
        for early in self.path.glob(f"*{_NEW}"):
            with contextlib.suppress(OSError):
                if time.time() - early.stat().st_mtime > _LEFTOVER_AFTER_S:
                    early.unlink()


def _lock(fd: int) -> bool:
    """Lock a file of our own; False when the file system cannot."""
    if fcntl is None:  # pragma: no cover - Windows
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _lock_orphan(fd: int) -> bool:
    """Lock somebody else's file if it has no owner."""
    if fcntl is None:  # pragma: no cover - Windows
        raise NoLocks(errno.ENOTSUP, "this system has no flock")
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as exc:
        if exc.errno in _BUSY:
            return False
        raise NoLocks(exc.errno, os.strerror(exc.errno or 0)) from exc
    return True


def _is_ours(fd: int, path: Path) -> bool:
    """Is it a plain file of our user, and still the one with that name (its owner may just have deleted it)?"""
    info = os.fstat(fd)
    if not stat.S_ISREG(info.st_mode) or (hasattr(os, "geteuid") and info.st_uid != os.geteuid()):
        return False
    try:
        return os.path.samestat(info, path.stat(follow_symlinks=False))
    except OSError:
        return False
