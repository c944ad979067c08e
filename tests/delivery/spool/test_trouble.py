"""Directories that cannot be used: one warning that says what to do, and recording goes on."""

from __future__ import annotations

import errno
import logging
import os
import resource
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fastmcp_feedback import contain
from fastmcp_feedback.delivery.spool import health
from support.disks import small_disk
from support.spooling import SINK, call_ids, entries, ids, made_call, opened


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What was logged."""
    caplog.set_level(logging.INFO, contain.logger.name)
    return caplog


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB, where mounting is allowed."""
    with small_disk(tmp_path / "disk", "64k") as folder:
        yield folder


@pytest.fixture
def quick_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The spool is tried again at once."""
    monkeypatch.setattr(health, "_FIRST_PROBE_S", 0.0)
    monkeypatch.setattr(health, "_LAST_PROBE_S", 0.0)


@pytest.mark.usefixtures("quick_probes")
def test_a_full_disk_is_said_once_and_mends_itself(disk: Path, warnings: pytest.LogCaptureFixture) -> None:
    """Whole records stay readable, later ones are refused, and with space again the spool goes on."""
    spool = opened(disk / "s")
    number = 0
    while spool.append(entries([number], args="x" * 1000)):
        number += 1
    assert 10 < number < 64
    assert spool.append(entries([999], args="x" * 1000)) is None
    assert spool.problem == os.strerror(errno.ENOSPC)
    [warning] = [r for r in warnings.records if r.levelno == logging.WARNING]
    assert "No space left" in warning.getMessage()
    assert "free some space" in warning.getMessage()
    taken = spool.take(SINK)
    assert ids(taken) == call_ids(range(number))
    for _, ticket in taken:
        spool.settle(SINK, ticket)
    spool.maintain(tidy=True)
    assert spool.append(entries([1000]))
    assert spool.problem is None
    spool.close()


@pytest.mark.usefixtures("quick_probes")
def test_a_write_that_goes_in_by_half_leaves_no_half_record(tmp_path: Path) -> None:
    """Where the file may not grow, what was written of a batch is cut off again."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    spool = opened(tmp_path)
    assert spool.append(entries(range(3)))
    [path] = tmp_path.glob("*.spool")
    size = path.stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, hard))
    try:
        assert spool.append(entries(range(3, 9))) is None
        assert path.stat().st_size == size
        assert spool.problem == os.strerror(errno.EFBIG)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert spool.append(entries(range(3, 9)))
    assert ids(spool.take(SINK)) == call_ids(range(9))
    spool.close()


def test_after_a_failure_the_disk_is_left_alone_for_a_while(tmp_path: Path) -> None:
    """Until the next probe nothing touches the directory."""
    (tmp_path / "s").write_text("a file in the way")
    spool = opened(tmp_path / "s")
    assert spool.usable
    assert spool.append(entries([1])) is None
    assert not spool.usable
    (tmp_path / "s").unlink()
    assert spool.append(entries([1])) is None
    assert not (tmp_path / "s").exists()
    spool.close()


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_directory_where_others_may_write_is_refused(tmp_path: Path, mode: int, warnings: pytest.LogCaptureFixture) -> None:
    """What lies there could be anybody's; the warning names the mode and the cure."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)
    spool = opened(shared)
    spool.probe()
    assert spool.append(entries([1])) is None
    assert "others may write into it" in warnings.text
    assert f"chmod 700 {shared}" in warnings.text
    assert list(shared.iterdir()) == []
    spool.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a directory away")
def test_a_directory_of_another_user_is_refused(tmp_path: Path, warnings: pytest.LogCaptureFixture) -> None:
    """The warning says whose it is."""
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o700)
    os.chown(theirs, 12345, -1)
    spool = opened(theirs)
    assert spool.append(entries([1])) is None
    assert "belongs to another user (uid 12345)" in warnings.text
    spool.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a file away")
def test_files_of_other_users_and_links_are_not_claimed(tmp_path: Path) -> None:
    """Neither a planted file nor a link to somewhere else is read or deleted."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    directory = tmp_path / "s"
    directory.mkdir(mode=0o700)
    (directory / "0-1-aa.spool").symlink_to(victim)
    (directory / "0-2-bb.spool").write_text("theirs")
    os.chown(directory / "0-2-bb.spool", 12345, -1)
    spool = opened(directory)
    assert spool.claim_orphans() == {}
    spool.close()
    assert victim.read_text() == "precious"
    assert (directory / "0-2-bb.spool").exists()


def test_a_directory_that_vanishes_is_written_anew(tmp_path: Path, warnings: pytest.LogCaptureFixture) -> None:
    """What was owed is on disk again, and the next process finds it."""
    spool = opened(tmp_path / "s")
    spool.append(entries(range(5)))
    shutil.rmtree(tmp_path / "s")
    spool._looked_around_s = 0.0
    spool.maintain()
    assert "files were deleted" in warnings.text
    assert spool.append(entries([5]))
    spool.close()
    second = opened(tmp_path / "s")
    assert second.claim_orphans() == {SINK: 6}
    assert ids(second.take(SINK)) == call_ids(range(6))
    second.close()


def test_without_locks_nobody_elses_files_are_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings: pytest.LogCaptureFixture
) -> None:
    """A warning says so once; appending and taking go on."""
    first = opened(tmp_path)
    first.append(entries([1]))
    first.close()

    def no_flock(_fd: int, _how: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", no_flock)
    second = opened(tmp_path)
    assert second.claim_orphans() == {}
    assert second.append(entries([2]))
    assert ids(second.take(SINK)) == call_ids([2])
    assert len([r for r in warnings.records if "without flock" in r.getMessage()]) == 1
    second.close()


def test_a_sign_of_life_is_given_while_calls_run(tmp_path: Path) -> None:
    """The file's time moves on, so that an interrupted call's duration is right."""
    spool = opened(tmp_path)
    spool.append(entries([1]))
    assert spool.start_call([SINK], made_call(2))
    [path] = tmp_path.glob("*.spool")
    os.utime(path, (1, 1))
    spool._looked_around_s = 0.0
    spool.maintain()
    assert time.time() - path.stat().st_mtime < 3600
    spool.close()
