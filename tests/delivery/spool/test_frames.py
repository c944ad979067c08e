"""The frame format: whatever happens to the bytes, intact frames are found and nothing is invented."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.delivery.spool.frames import (
    ACK,
    END,
    MAGIC,
    RECORD,
    START,
    SYNC,
    Frame,
    Gap,
    frame,
    pack_numbers,
    pack_owed,
    scan,
    unpack_numbers,
    unpack_owed,
)

texts = st.text(max_size=40).map(lambda text: text.encode("utf-8", "backslashreplace"))
frames = st.lists(st.tuples(st.sampled_from([RECORD, ACK, START, END]), st.integers(0, 2**64 - 1), texts), max_size=8)


def build(parts: list[tuple[int, int, bytes]]) -> tuple[bytes, list[Frame]]:
    """A file's bytes, and its frames."""
    data, made = MAGIC, []
    for kind, number, payload in parts:
        piece = frame(kind, number, payload)
        made.append(Frame(len(data), len(data) + len(piece), kind, number, payload))
        data += piece
    return data, made


@given(frames)
def test_frames_come_back_in_order(parts: list[tuple[int, int, bytes]]) -> None:
    """An undamaged file gives exactly what was written."""
    data, made = build(parts)
    assert list(scan(data)) == made


@given(frames, st.data())
def test_a_file_cut_anywhere_gives_all_frames_before_the_cut(parts: list[tuple[int, int, bytes]], data: st.DataObject) -> None:
    """What is left behind the last whole frame is one torn gap, or nothing."""
    whole, made = build(parts)
    cut = data.draw(st.integers(len(MAGIC), len(whole)))
    found = list(scan(whole[:cut]))
    intact = [f for f in made if f.end <= cut]
    assert found[: len(intact)] == intact
    end = intact[-1].end if intact else len(MAGIC)
    assert found[len(intact) :] == ([Gap(end, cut, torn=True)] if cut > end else [])


@given(frames.filter(bool), st.data())
def test_damage_costs_only_the_frames_it_hits(parts: list[tuple[int, int, bytes]], data: st.DataObject) -> None:
    """Every frame that the damaged bytes do not touch is found; no other frame is made up."""
    whole, made = build(parts)
    start = data.draw(st.integers(len(MAGIC), len(whole) - 1))
    junk = data.draw(st.binary(min_size=1, max_size=30))
    damaged = whole[:start] + junk + whole[start + len(junk) :]
    untouched = [f for f in made if damaged[f.start : f.end] == whole[f.start : f.end] and f.end <= len(damaged)]
    found = [f for f in scan(damaged) if isinstance(f, Frame)]
    assert found == untouched


@given(frames, st.data())
def test_missing_and_inserted_bytes_shift_but_do_not_lose_later_frames(parts: list[tuple[int, int, bytes]], data: st.DataObject) -> None:
    """Frames are found again behind bytes that were cut out or put in."""
    parts = [(kind, number, payload) for number, (kind, _, payload) in enumerate(parts)]
    whole, made = build(parts)
    at = data.draw(st.integers(len(MAGIC), len(whole)))
    gone = data.draw(st.integers(0, 20))
    shifted = whole[:at] + data.draw(st.binary(max_size=5)) + whole[at + gone :]
    found = [(f.kind, f.number, f.payload) for f in scan(shifted) if isinstance(f, Frame)]
    kept = [(f.kind, f.number, f.payload) for f in made if f.end <= at or f.start >= at + gone]
    assert [f for f in found if f in kept] == kept
    assert all(f in parts for f in found)


@given(st.binary(max_size=300))
def test_any_bytes_can_be_scanned(data: bytes) -> None:
    """Random bytes hold no frames; the gaps cover them."""
    found = list(scan(data))
    assert all(isinstance(f, Gap) for f in found)
    assert sum(f.end - f.start for f in found) == len(data) - (len(MAGIC) if data.startswith(MAGIC) else 0)


def test_a_damaged_last_frame_is_damage_and_not_a_torn_write() -> None:
    """All its bytes are there, so the write was finished: the loss counts."""
    data, _ = build([(RECORD, 1, b"a"), (RECORD, 2, b"b")])
    *_, last = scan(data[:-1] + b"x")
    assert isinstance(last, Gap)
    assert not last.torn


def test_text_never_holds_the_sync_mark() -> None:
    """Its bytes are invalid in UTF-8, wherever they stand."""
    assert SYNC.decode("utf-8", "ignore") == ""
    assert all(byte > 0xF4 for byte in SYNC)


@given(st.sets(st.integers(0, 200)).map(sorted))
def test_numbers_are_packed_as_ranges(numbers: list[int]) -> None:
    """Packing loses nothing."""
    assert [n for first, last in unpack_numbers(pack_numbers(numbers)) for n in range(first, last + 1)] == numbers


def test_names_and_record_share_a_payload() -> None:
    """The record may hold any bytes but comes back whole."""
    assert unpack_owed(pack_owed(("A-0", "B-1"), b"x\ny\t")) == (("A-0", "B-1"), b"x\ny\t")
    assert unpack_owed(b"\n") == ((), b"")
