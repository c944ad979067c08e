"""The spool in one process: append, take, settle, rotate, bound, and what the next process finds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.delivery.spool.holdings import Counts
from fastmcp_feedback.delivery.spool.spool import Spool
from support.spooling import SINK, call_ids, entries, ids, made_call, opened


def files(directory: Path) -> list[Path]:
    """The segment files in the directory."""
    return sorted(directory.glob("*.spool"))


def test_records_come_back_in_order_with_every_field(tmp_path: Path) -> None:
    """What was appended is what `take` yields, once."""
    spool = opened(tmp_path / "s")
    assert spool.append(entries(range(20)))
    assert spool.counts(SINK) == Counts(held=0, on_disk=20, recovered=0)
    taken = spool.take(SINK, 15)
    assert [record for record, _ in taken] == [made_call(n) for n in range(15)]
    assert ids(spool.take(SINK)) == call_ids(range(15, 20))
    assert spool.take(SINK) == []
    assert spool.counts(SINK) == Counts(held=20, on_disk=0, recovered=0)
    spool.close()


def test_files_are_private(tmp_path: Path) -> None:
    """Mode 0700 for the directory and 0600 for the files, whatever the umask."""
    old = os.umask(0)
    try:
        spool = opened(tmp_path / "a" / "s")
        spool.append(entries([1]))
        assert (tmp_path / "a" / "s").stat().st_mode & 0o777 == 0o700
        assert [path.stat().st_mode & 0o777 for path in files(tmp_path / "a" / "s")] == [0o600]
        spool.close()
    finally:
        os.umask(old)


def test_a_file_is_deleted_when_every_sink_has_everything(tmp_path: Path) -> None:
    """Two sinks must both settle before the file goes; closing needs no idle time."""
    spool = opened(tmp_path, "A-0", "B-1")
    tickets = spool.append(entries(range(3), held=("A-0", "B-1"), on_disk=()))
    assert tickets is not None
    for ticket in tickets:
        spool.settle("A-0", ticket)
    spool.maintain()
    assert spool.counts("A-0") == Counts(0, 0, 0)
    assert spool.counts("B-1") == Counts(3, 0, 0)
    assert len(files(tmp_path)) == 1
    for ticket in tickets:
        spool.settle("B-1", ticket)
        spool.settle("B-1", ticket)  # twice does no harm
    spool.close()
    assert files(tmp_path) == []


def test_the_next_spool_takes_over_what_is_owed_and_only_that(tmp_path: Path) -> None:
    """Acknowledged records do not come again; each sink gets its own rest, in order."""
    first = opened(tmp_path, "A-0", "B-1")
    tickets = first.append(entries(range(10), held=("A-0",), on_disk=("B-1",)))
    assert tickets is not None
    for ticket in tickets[:4]:
        first.settle("A-0", ticket)
    for ticket in tickets[6:]:
        first.settle("B-1", ticket)
    first.close()
    second = opened(tmp_path, "A-0", "B-1")
    assert second.claim_orphans() == {"A-0": 6, "B-1": 6}
    assert second.counts("A-0") == Counts(0, 0, 6)
    assert ids(second.take("A-0")) == call_ids(range(4, 10))
    assert ids(second.take("B-1")) == call_ids(range(6))
    assert second.claim_orphans() == {}
    second.close()


def test_what_a_live_spool_owns_is_not_claimed(tmp_path: Path) -> None:
    """Another spool on the directory leaves it alone until it is closed."""
    first, second = opened(tmp_path), opened(tmp_path)
    first.append(entries([1]))
    assert second.claim_orphans() == {}
    first.close()
    assert second.claim_orphans() == {SINK: 1}
    second.close()


def test_records_of_other_sinks_are_left_for_those(tmp_path: Path) -> None:
    """A process that does not serve the sink gives the file back."""
    first = opened(tmp_path, "Other-0")
    first.append(entries([1], on_disk=("Other-0",)))
    first.close()
    second = opened(tmp_path)
    assert second.claim_orphans() == {}
    third = opened(tmp_path, "Other-0")
    assert third.claim_orphans() == {"Other-0": 1}
    third.close()
    second.close()


def test_a_shared_file_is_given_back_when_our_sinks_are_done(tmp_path: Path) -> None:
    """What is settled stays settled; the other sink's part waits for its own process."""
    first = opened(tmp_path, SINK, "Other-0")
    first.append(entries(range(5), on_disk=(SINK, "Other-0")))
    first.close()
    second = opened(tmp_path)
    assert second.claim_orphans() == {SINK: 5}
    for _, ticket in second.take(SINK):
        second.settle(SINK, ticket)
    second.maintain()
    third = opened(tmp_path, SINK, "Other-0")
    assert third.claim_orphans() == {"Other-0": 5}
    third.close()
    second.close()


def test_released_records_are_yielded_again(tmp_path: Path) -> None:
    """What memory lets go of counts as on disk only; what was settled meanwhile does not come back."""
    spool = opened(tmp_path)
    tickets = spool.append(entries(range(4), held=(SINK,), on_disk=()))
    assert tickets is not None
    spool.settle(SINK, tickets[1])
    assert spool.release(SINK, tickets) == [True, False, True, True]
    assert ids(spool.take(SINK)) == call_ids([0, 2, 3])
    spool.close()


def test_files_rotate_and_go_one_by_one(tmp_path: Path) -> None:
    """A grown file is followed by a new one; finished files go though later ones are owed."""
    spool = opened(tmp_path, segment_bytes=1000)
    for n in range(20):
        spool.append(entries([n]))
    count = len(files(tmp_path))
    assert count > 3
    taken = spool.take(SINK)
    assert ids(taken) == call_ids(range(20))
    for _, ticket in taken[:10]:
        spool.settle(SINK, ticket)
    spool.maintain()
    assert 1 < len(files(tmp_path)) < count
    spool.close()


def test_the_oldest_file_goes_when_the_directory_is_full(tmp_path: Path) -> None:
    """The bound holds at any time, the newest records stay, and those that were only on disk are counted as lost."""
    lost: list[tuple[str, int, int, str]] = []
    spool = opened(tmp_path, max_bytes=10_000, on_lost=lambda *loss: lost.append(loss))
    for n in range(200):
        assert spool.append(entries([n]))
        assert sum(path.stat().st_size for path in files(tmp_path)) <= 10_000
    gone = sum(own for _, own, _, _ in lost)
    assert {(name, recovered, reason) for name, _, recovered, reason in lost} == {(SINK, 0, "spool_full")}
    assert ids(spool.take(SINK)) == call_ids(range(gone, 200))
    spool.close()


def test_records_of_earlier_processes_are_dropped_first_and_counted_apart(tmp_path: Path) -> None:
    """They are the oldest; the loss says that they were not this process's own."""
    lost: list[tuple[str, int, int, str]] = []
    first = opened(tmp_path, max_bytes=10_000)
    first.append(entries(range(20)))
    first.close()
    second = opened(tmp_path, max_bytes=10_000, on_lost=lambda *loss: lost.append(loss))
    assert second.claim_orphans() == {SINK: 20}
    second.append(entries(range(20, 40), args="x" * 200))
    assert lost == [(SINK, 0, 20, "spool_full")]
    second.close()


def test_unclaimed_files_make_room_too(tmp_path: Path) -> None:
    """When files of dead processes fill the directory, the oldest of them goes."""
    first = opened(tmp_path, "Other-0", max_bytes=10_000)
    first.append(entries(range(20), on_disk=("Other-0",), args="x" * 200))
    first.close()
    second = opened(tmp_path, max_bytes=10_000)
    assert second.append(entries(range(20), args="x" * 200))
    assert len(files(tmp_path)) == 1
    second.close()


def test_a_record_larger_than_the_bound_is_refused_and_costs_nothing_else(tmp_path: Path) -> None:
    """Nothing is dropped for what would not fit anyway."""
    spool = opened(tmp_path, max_bytes=10_000)
    spool.append(entries([1]))
    assert spool.append(entries([2], args="x" * 20_000)) is None
    assert ids(spool.take(SINK)) == call_ids([1])
    spool.close()


def test_a_full_directory_of_live_processes_refuses(tmp_path: Path) -> None:
    """What others own is not ours to drop, so records stay in memory."""
    first = opened(tmp_path, max_bytes=10_000)
    first.append(entries(range(20), args="x" * 200))
    second = opened(tmp_path, max_bytes=10_000)
    assert second.append(entries(range(20), args="x" * 200)) is None
    assert second.problem is None
    first.close()
    second.close()


@given(st.data())
def test_recovery_of_a_damaged_file_raises_nothing_and_invents_nothing(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Any byte of the file may change or be cut away: what comes back was written, in order, and the rest is usable."""
    directory = tmp_path_factory.mktemp("damaged")
    first = opened(directory)
    for n in range(5):
        first.append(entries([n]))
    first.close()
    [path] = files(directory)
    content = bytearray(path.read_bytes())
    if data.draw(st.booleans()):
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    content = content[: data.draw(st.integers(0, len(content)))]
    path.write_bytes(content)
    second = opened(directory)
    second.claim_orphans()
    found = ids(second.take(SINK))
    assert found == [i for i in call_ids(range(5)) if i in found]
    assert second.append(entries([9]))
    assert ids(second.take(SINK)) == call_ids([9])
    second.close()


def test_a_damaged_place_costs_one_record_and_is_counted(tmp_path: Path) -> None:
    """The frames before and behind it are recovered."""
    first = opened(tmp_path)
    first.append(entries(range(5)))
    first.close()
    [path] = files(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"call-2", b"call-X"))
    second = opened(tmp_path)
    assert second.claim_orphans() == {SINK: 4}
    assert ids(second.take(SINK)) == call_ids([0, 1, 3, 4])
    assert second.damaged == 1
    second.close()


def test_damage_after_the_index_was_made_is_counted_as_lost(tmp_path: Path) -> None:
    """A record that can no longer be read when its turn comes is lost with that reason, not given as something else."""
    lost: list[tuple[str, int, int, str]] = []
    spool: Spool = opened(tmp_path, on_lost=lambda *loss: lost.append(loss))
    spool.append(entries(range(3)))
    [path] = files(tmp_path)
    content = path.read_bytes()
    with path.open("r+b") as file:
        file.write(content.replace(b"call-1", b"call-X"))
    assert ids(spool.take(SINK)) == call_ids([0, 2])
    assert lost == [(SINK, 1, 0, "spool_damaged")]
    spool.close()


@pytest.mark.parametrize("leftover", [b"", b"ffb", b"not a spool at all"])
def test_files_that_hold_nothing_are_cleared_away(tmp_path: Path, leftover: bytes) -> None:
    """A process that died right after making its file leaves nothing behind."""
    (tmp_path / "00000000000000000001-1-aa.spool").write_bytes(leftover)
    tmp_path.chmod(0o700)
    spool = opened(tmp_path)
    assert spool.claim_orphans() == {}
    assert files(tmp_path) == []
    spool.close()
