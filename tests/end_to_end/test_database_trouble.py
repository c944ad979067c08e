"""Real servers whose database file is moved away, or whose disk fills up: nothing is lost, nothing is stored twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.disks import resize, small_disk
from support.spooled_studio import SpooledStudio, ping
from support.waiting import until

pytestmark = pytest.mark.slow


def move(files: list[Path], folder: Path) -> None:
    """Into another folder of the same file system."""
    for file in files:
        file.rename(folder / file.name)


async def test_calls_made_while_the_database_file_is_away_are_stored_when_it_is_back(tmp_path: Path) -> None:
    """They wait on disk, and come into the file that was put back."""
    studio = SpooledStudio(tmp_path)
    away = tmp_path / "away"
    away.mkdir()
    async with studio.running() as client:
        await ping(client, range(20))
        await until(lambda: studio.has_stored(range(20)))
        move(studio.files(), away)
        await ping(client, range(20, 40))
        await until(studio.owed)
        move(studio.files(away), tmp_path)
        await ping(client, range(40, 60))
    assert studio.numbers() == list(range(60))


async def test_a_deleted_database_file_is_made_again_and_misses_only_what_was_in_it(tmp_path: Path) -> None:
    """What was recorded after it went is in the new one."""
    studio = SpooledStudio(tmp_path)
    async with studio.running() as client:
        await ping(client, range(20))
        await until(lambda: studio.has_stored(range(20)))
        for file in studio.files():
            file.unlink()
        await ping(client, range(20, 40))
        await until(lambda: studio.has_stored(range(20, 40)))
    assert studio.numbers() == list(range(20, 40))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 400 kB."""
    with small_disk(tmp_path / "small", "400k") as folder:
        yield folder


async def test_a_full_disk_under_the_database_loses_nothing_once_there_is_room(tmp_path: Path, disk: Path) -> None:
    """The tools go on answering, the calls wait on the other disk, and all are stored when the disk has grown."""
    studio = SpooledStudio(tmp_path, disk / "calls.db")
    async with studio.running() as client:
        await ping(client, range(2000))
        await until(studio.owed)
        assert len(studio.numbers()) < 2000
        resize(disk, "64m")
        await until(lambda: studio.has_stored(range(2000)), timeout_s=40)
    assert studio.numbers() == list(range(2000))
