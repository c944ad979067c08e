"""Fingerprints: which failures are the same one, on any machine and with any values."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.shaping.fingerprint import VERSION, fingerprint, normalise

# The same failure twice.
SAME = [
    # numbers and counts
    ("queue 17 is full", "queue 4203 is full"),
    ("3 rows rejected", "1 row rejected"),
    ("1 try left", "5 tries left"),
    ("offset -3 is out of range", "offset 12 is out of range"),
    ("expected 1,024 items", "expected 7 items"),
    ("load is 0.93", "load is 12.5"),
    ("50% done when it broke", "7 % done when it broke"),
    ("price $3.50 too high", "price $1,200.00 too high"),
    ("bad value 1e-9", "bad value 2.5E+10"),
    ("missing ids: 1, 2, 3", "missing ids: 9"),
    ("step 3/5 broke", "step 12/40 broke"),
    ("line 3, column 9", "line 120, column 41"),
    # ids
    ("user 550e8400-e29b-41d4-a716-446655440000 is locked", "user 7d793789-1f4c-4a6e-9c0b-2f5a1e3d8b77 is locked"),
    ("user 550e8400e29b41d4a716446655440000 is locked", "user 7d7937891f4c4a6e9c0b2f5a1e3d8b77 is locked"),
    ("commit 9fceb02 is unknown", "commit 3b18e512dba79e4c8300dd08aeb37f8e728b8dad is unknown"),
    ("<Queue object at 0x7f8a12cd>", "<Queue object at 0x55d0c3a0b2f0>"),
    ("worker3 died", "worker12 died"),
    ("job-17 died", "job-4203 died"),
    ("order_8842 is gone", "order_17 is gone"),
    ("pod shop-7d9f8b6c5-x2k4p is gone", "pod shop-5c66d8b79-9qzvm is gone"),
    ("request req9fA2bC3dE4 is unknown", "request req7Kq41LmZ09 is unknown"),
    ("bad token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmVk", "bad token eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiI5OTkifQ.b3RoZXI"),
    # redacted values
    ("key [REDACTED] is not valid", "key 12345 is not valid"),
    ("login of [REDACTED] failed", "login of bob@shop.example failed"),
    ("cannot decode '[REDACTED]'", "cannot decode 'abc'"),
    # quoted values
    ("no column 'size'", "no column 'colour'"),
    ('no column "size"', 'no column "a long name with spaces"'),
    ("no column `size`", "no column `colour`"),
    ("no column \u201csize\u201d", "no column \u201ccolour\u201d"),
    ("can't open 'a' because it isn't there", "can't open 'bcd' because it isn't there"),
    ("no column ''", "no column 'size'"),
    # paths and files
    ("cannot open /srv/shop/a.png", "cannot open /opt/bob/pictures/b.png"),
    ("cannot open ~/a.png", "cannot open /srv/b.png"),
    ("cannot open C:\\Users\\bob\\a.png", "cannot open D:\\shop\\b.png"),
    ("cannot open \\\\server\\share\\a.png", "cannot open C:\\b.png"),
    ("cannot open src/shop/main.py: no space", "cannot open lib/other.py: no space"),
    ("cannot open report.docx", "cannot open summary-2.xlsx"),
    ("cannot open ./a/b", "cannot open ../c"),
    # addresses
    ("no answer from https://shop.example/v1/items?id=3", "no answer from http://10.0.0.7:8080/"),
    ("no answer from 10.0.0.7", "no answer from 192.168.1.20"),
    ("no answer from 10.0.0.7:5432", "no answer from 127.0.0.1:6543"),
    ("no answer from db-1.internal:5432", "no answer from localhost:5432"),
    ("no answer from db.shop.example", "no answer from cache.shop.example"),
    ("no answer from [::1]:80", "no answer from [fe80::1]:8080"),
    ("mail to ann@shop.example bounced", "mail to bob.b+x@mail.example bounced"),
    ("postgresql://ann:[REDACTED]@db.shop.example/a is down", "postgresql://bob:[REDACTED]@10.0.0.1/b is down"),
    # times, durations, sizes
    ("closed at 2026-03-01T10:00:00Z", "closed at 2027-11-30T23:59:59.123+02:00"),
    ("closed at 2026-03-01 10:00", "closed at 2027-11-30 23:59:59"),
    ("closed on 2026-03-01", "closed on 2027-11-30"),
    ("closed at 10:00", "closed at 23:59:59"),
    ("closed on Mon, 2 Mar 2026 10:00:00 GMT", "closed on Tue, 13 Oct 2026 08:30:00 GMT"),
    ("closed on Mar 2 10:00:01", "closed on Oct 13 08:30:00"),
    ("timed out after 30 seconds", "timed out after 1 second"),
    ("timed out after 30s", "timed out after 1500 ms"),
    ("timed out after 1h 2m 3s", "timed out after 5m 1s"),
    ("file of 12 MB is too large", "file of 1.5 GiB is too large"),
    ("file of 300 bytes is too large", "file of 7KB is too large"),
    # shape
    ("queue  is\n full", "queue is full"),
    ("queue is full.", "queue is full"),
    ("\x1b[31mqueue is full\x1b[0m", "queue is full"),
    (
        "Input should be a number [type=number, input_value={'a': 1}, input_type=dict]",
        "Input should be a number [type=number, input_value=[], input_type=dict]",
    ),
]

# Two failures.
DIFFERENT = [
    ("queue is full", "queue is locked"),
    ("queue 17 is full", "queue 17 is locked"),
    ("cannot open /srv/a.png", "cannot close /srv/a.png"),
    ("cannot open 'a': no space", "cannot open 'a': permission denied"),
    ("HTTP 404 from the shop", "HTTP 503 from the shop"),
    ("status code: 401", "status code: 403"),
    ("404 Not Found", "410 Gone"),
    ("exit code 1", "exit code 137"),
    ("[Errno 2] No such file", "[Errno 13] No such file"),
    ("ORA-00942: broken", "ORA-01017: broken"),
    ("error code 1045: broken", "error code 1146: broken"),
    ("SQLSTATE 42P01", "SQLSTATE 23505"),
    ('{"code": 7, "size": 3}', '{"code": 7, "colour": 3}'),
    ("read timed out", "connect timed out"),
    ("cannot decode utf8", "cannot decode base64"),
    ("no sha256 sum", "no md5 sum"),
    ("shop.errors.QueueFull raised", "shop.errors.QueueLocked raised"),
    ("field size is required", "field colour is required"),
    ("and/or", "either/or"),
    ("", "queue is full"),
    ("[type=missing, input_value=3, input_type=int]", "[type=extra, input_value=3, input_type=int]"),
]


def print_of(message: str) -> str:
    """The fingerprint of a message, all else equal."""
    return fingerprint("render", "QueueError", message)


@pytest.mark.parametrize(("one", "other"), SAME, ids=lambda text: text[:40])
def test_the_same_failure_has_one_print(one: str, other: str) -> None:
    """Values go: numbers, ids, paths, addresses, quoted and redacted values, times, sizes."""
    assert normalise(one) == normalise(other)
    assert print_of(one) == print_of(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=lambda text: text[:40])
def test_two_failures_have_two_prints(one: str, other: str) -> None:
    """What says which failure it was stays: words, status and error codes."""
    assert print_of(one) != print_of(other)


def test_the_table_is_as_large_as_promised() -> None:
    """At least sixty pairs, of both kinds."""
    assert len(SAME) >= 60
    assert len(DIFFERENT) >= 20


def test_tool_and_type_belong_to_the_print() -> None:
    """The same words from another tool, or of another type, are another failure; a missing one is empty."""
    prints = {
        fingerprint("render", "QueueError", "full"),
        fingerprint("draw", "QueueError", "full"),
        fingerprint("render", "DiskError", "full"),
        fingerprint("render", None, "full"),
        fingerprint("render", "QueueError", None),
    }

    assert len(prints) == 5


def test_a_print_is_versioned_and_stable() -> None:
    """Stored prints stay comparable: this one may change with the version alone."""
    found = fingerprint("render", "OSError", "no space for '/srv/a.png' (12 MB)")

    assert re.fullmatch(VERSION + "-[0-9a-f]{16}", found)
    assert found == "f1-f761dd9840f2f313"


@pytest.mark.parametrize(
    ("error_type", "one", "other"),
    [
        ("AttributeError", "'Queue' object has no attribute 'size'", "'Queue' object has no attribute 'colour'"),
        ("NameError", "name 'size' is not defined", "name 'colour' is not defined"),
        ("TypeError", "draw() got an unexpected keyword argument 'size'", "draw() got an unexpected keyword argument 'colour'"),
    ],
)
def test_names_of_the_code_are_no_values(error_type: str, one: str, other: str) -> None:
    """What Python quotes when the code is wrong tells one mistake from another."""
    assert fingerprint("render", error_type, one) != fingerprint("render", error_type, other)
    assert fingerprint("render", "ValueError", one) == fingerprint("render", "ValueError", other)


@pytest.mark.parametrize("unit", ["a", "1", "'", '"', "/", "a.", "a@", "12:", "::", "a-", '{"a":', " ", "<*>", "\x1b[0m", "Mon 1 ", "é"])
def test_only_the_head_of_a_huge_message_counts(unit: str) -> None:
    """A megabyte is answered from its first thousand characters."""
    huge = unit * (10**6 // len(unit))

    assert print_of(huge) == print_of(huge[:2000])
    assert len(normalise(huge)) <= 256


def test_the_far_end_of_a_cut_message_does_not_count() -> None:
    """Messages are cut at a fixed length, so values of other lengths move their ends."""
    story = "the queue of the shop is full and nobody empties it " * 12

    assert print_of((f"/srv/{'x' * 3}: " + story)[:500]) == print_of((f"/srv/{'x' * 90}: " + story)[:500])


@given(st.text(max_size=300))
def test_any_message_has_a_print(message: str) -> None:
    """The same twice, bounded, and normalising again changes nothing that matters."""
    assert print_of(message) == print_of(message)
    assert len(normalise(message)) <= 256


@given(st.integers(min_value=0, max_value=10**12), st.integers(min_value=0, max_value=10**12))
def test_numbers_never_matter(one: int, other: int) -> None:
    """Whatever their size."""
    assert print_of(f"queue {one} is full") == print_of(f"queue {other} is full")
