"""What DatabaseSink promises, on every database and every way to reach it."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from fastmcp_feedback.records import CallLink, Derived, Failure
from fastmcp_feedback.sink import Record, RecordsRejected
from support.databases import Database
from support.made_up import NOON, call, call_in, event, link


async def test_a_call_comes_back_as_it_went_in(database: Database) -> None:
    """Fields and derived facts stand in columns of their names; times are aware, JSON is decoded."""
    sink = database.sink()
    derived = Derived(
        failure=Failure("caller", "bad_arguments", "f" * 16, ("scene",)), conversation_key="session:1", conversation_basis="session",
        parent_call_id="p", trace_id="t" * 32, span_id="s" * 16,
    )  # fmt: skip
    record = call(
        ok=False, outcome="error", args={"scene": "big", "n": 2**70}, result=[1, "ü"], identity={"team": "x"}, extra={"n": 2**70},
        error_type="ValueError", error_message="no \N{SNOWMAN}", args_size=3, result_size=0, sample_rate=0.5, _derived=derived,
    )  # fmt: skip

    await sink.write([record])
    (row,) = await sink.read_calls([record.id])

    assert {name: row[name] for name in record.to_row()} == record.to_row()
    assert (row["fault"], row["category"], row["fingerprint"], row["bad_arguments"]) == ("caller", "bad_arguments", "f" * 16, ["scene"])
    assert (row["conversation_key"], row["conversation_basis"], row["internal"]) == ("session:1", "session", False)
    assert (row["parent_call_id"], row["trace_id"], row["span_id"]) == ("p", "t" * 32, "s" * 16)


async def test_what_is_missing_is_null(database: Database) -> None:
    """A record with its required fields alone leaves every other column NULL, payloads included."""
    sink = database.sink()
    nothing = " AND ".join(f"{name} IS NULL" for name in ("args", "result", "error_type", "fault", "bad_arguments"))

    await sink.write([call()])
    (row,) = await sink.backend.query([(f"SELECT count(*) AS n FROM ffb_tool_calls WHERE {nothing}", {})])

    assert row == {"n": 1}


async def test_batches_written_twice_store_each_record_once(database: Database) -> None:
    """A batch that is tried again adds only what was not there, whatever else is in it."""
    sink = database.sink()
    records: list[Record] = [*(call(n) for n in range(300)), *(event(n) for n in range(300))]

    await sink.write(records[:400])
    await sink.write(records[200:])
    await sink.write(records)
    rows = await sink.backend.query([("SELECT count(*) AS n FROM ffb_tool_calls", {}), ("SELECT count(*) AS n FROM ffb_events", {})])

    assert [row["n"] for row in rows] == [300, 300]


async def test_a_record_twice_in_one_batch_is_stored_once(database: Database) -> None:
    """Duplicates inside a batch do no harm."""
    sink = database.sink()
    record = call()

    await sink.write([record, call(), record])

    assert len(await sink.read_calls([record.id])) == 1


async def test_an_empty_batch_is_nothing(database: Database) -> None:
    """Writing no records stores none and fails in no way."""
    sink = database.sink()

    await sink.write([])

    assert await sink.read_calls([]) == []


async def test_an_unusable_record_is_rejected_and_the_others_are_stored(database: Database) -> None:
    """One poisonous record costs only itself, and the reason names no payload."""
    sink = database.sink()
    good, bad = call(), call(started_at="yesterday")

    with pytest.raises(RecordsRejected) as caught:
        await sink.write([good, bad])

    assert caught.value.rejected == ((bad, "its time is no datetime but str"),)
    assert [row["id"] for row in await sink.read_calls([good.id, bad.id])] == [good.id]


async def test_questions_before_the_first_record_find_nothing(database: Database) -> None:
    """Linking asks at any time, so an empty or missing database is an answer and no error."""
    sink = database.sink()

    assert await sink.recent_calls(conversation_key="session:1", user_sub="a", ids=["12345678"]) == []
    assert await sink.read_context("r") == []
    assert await sink.read_events("k") == []


async def test_recent_calls_follow_the_conversation_the_user_and_quoted_ids(database: Database) -> None:
    """Newest first, bounded by `since` and `limit`, never an internal call."""
    sink = database.sink()
    mine = [call_in("session:1", n) for n in range(5)]
    users = [call_in(None, 10, user_sub="ann"), call_in("session:2", 11, user_sub="bob")]
    internal = call_in("session:1", 12, internal=True)
    await sink.write([*mine, *users, internal])

    in_conversation = await sink.recent_calls(conversation_key="session:1", user_sub=None, limit=3)
    of_user = await sink.recent_calls(conversation_key=None, user_sub="ann", since=NOON)
    later = await sink.recent_calls(conversation_key="session:1", user_sub="ann", since=NOON + timedelta(minutes=4))
    quoted = await sink.recent_calls(conversation_key=None, user_sub=None, ids=[mine[0].id[:8], users[1].id, "short", "%_______"])

    assert [row["id"] for row in in_conversation] == [mine[4].id, mine[3].id, mine[2].id]
    assert [(row["id"], row["ok"], row["started_at"]) for row in of_user] == [(users[0].id, True, users[0].started_at)]
    assert [row["id"] for row in later] == [users[0].id, mine[4].id]
    assert {row["id"] for row in quoted} == {mine[0].id, users[1].id}


async def test_links_are_replaced_and_joined_with_their_calls(database: Database) -> None:
    """The context of a report holds its newest links in order, with what is known of each call."""
    sink = database.sink()
    stored = call(extra={"job": 1}, error_message="m", session_id="s", user_sub="u")
    await sink.write([stored])
    running = CallLink("running-1", "user_window", "slow", NOON, ok=False, position=1)

    await sink.write_links("r", [running, link(call(), 5)])
    await sink.write_links("r", [link(stored), running, running])
    first, second = await sink.read_context("r")

    assert first == {
        "call_id": stored.id, "position": 0, "rule": "session", "tool": "render", "started_at": NOON, "duration_ms": 1.5, "ok": True,
        "outcome": "ok", "error_type": None, "error_message": "m", "session_id": "s", "user_sub": "u", "caller_kind": None,
        "server_version": None, "extra": {"job": 1},
    }  # fmt: skip
    assert (second["call_id"], second["tool"], second["started_at"], second["ok"], second["outcome"]) == (
        "running-1",
        "slow",
        NOON,
        False,
        None,
    )


async def test_linking_finds_what_another_sink_has_written(database: Database) -> None:
    """Two workers on one database see each other's calls, links and events."""
    if not database.shared:
        pytest.skip("a database in memory has one sink")
    one, two = database.sink(), database.sink()
    record = call_in("session:1")
    await one.write([record, event(key="k")])

    await two.write_links("r", [link(record)])

    assert [row["id"] for row in await two.recent_calls(conversation_key="session:1", user_sub=None)] == [record.id]
    assert [row["call_id"] for row in await one.read_context("r")] == [record.id]
    assert len(await two.read_events("k")) == 1


async def test_events_of_a_key_come_oldest_first_and_only_the_newest(database: Database) -> None:
    """As `EventRecord.to_dict` gives them, of the wanted kinds."""
    sink = database.sink()
    records = [event(n, key="k", kind="a" if n % 2 else "b", attrs={"n": n}) for n in range(6)]
    await sink.write([*reversed(records), event(key="other")])

    assert await sink.read_events("k", limit=2) == [records[4].to_dict(), records[5].to_dict()]
    assert [found["attrs"]["n"] for found in await sink.read_events("k", ["a"])] == [1, 3, 5]
    assert await sink.read_events("k", []) == []


async def test_prune_keeps_what_is_young_and_what_is_linked(database: Database) -> None:
    """Old calls and events go in batches; a linked call and its events stay."""
    sink = database.sink(prune_batch=7)
    old, young, linked = [call(n) for n in range(20)], call(600), call(5)
    events = [*(event(n) for n in range(10)), event(0, call_id=linked.id), event(601)]
    await sink.write([*old, young, linked, *events])
    await sink.write_links("r", [link(linked)])
    seen: list[int] = []

    deleted = await sink.prune(NOON + timedelta(hours=1), on_progress=seen.append)

    left = await sink.read_calls([record.id for record in (*old, young, linked)])
    (counted,) = await sink.backend.query([("SELECT count(*) AS n FROM ffb_events", {})])
    assert deleted == 30
    assert {row["id"] for row in left} == {young.id, linked.id}
    assert counted["n"] == 2
    assert seen[-1] == 30


async def test_several_workers_prune_at_once(database: Database) -> None:
    """Each old row is counted by exactly one of them."""
    if not database.shared:
        pytest.skip("a database in memory has one sink")
    sinks = [database.sink(prune_batch=10) for _ in range(3)]
    await sinks[0].write([call(n) for n in range(100)])

    deleted = await asyncio.gather(*(sink.prune(NOON + timedelta(days=1)) for sink in sinks))

    assert sum(deleted) == 100


async def test_retention_prunes_after_writes(database: Database) -> None:
    """A sink with a retention removes old rows by itself, a batch after each write."""
    sink = database.sink(retention="1 d", prune_batch=10)
    old = [call(n) for n in range(15)]
    await sink.write(old)

    for _ in range(6):
        await sink.write([])
    left = await sink.read_calls([record.id for record in old])

    assert left == []


async def test_a_linked_call_survives_retention_while_links_are_written(database: Database) -> None:
    """Whoever comes first, pruning and linking never leave a stored call linked and gone."""
    sink = database.sink(prune_batch=1)
    records = [call(n) for n in range(20)]
    await sink.write(records)
    before = {row["id"] for row in await sink.read_calls([record.id for record in records])}

    async def attach(number: int) -> bool:
        await sink.write_links(f"r{number}", [link(records[number])])
        (row,) = await sink.read_context(f"r{number}")
        return row["outcome"] is not None

    kept, _ = await asyncio.gather(asyncio.gather(*(attach(n) for n in range(19, 9, -1))), sink.prune(NOON + timedelta(days=1)))
    after = {row["id"] for row in await sink.read_calls([record.id for record in records])}

    assert len(before) == 20
    for number, was_there in zip(range(19, 9, -1), kept, strict=True):
        assert (records[number].id in after) is was_there


async def test_prune_without_any_age_says_what_to_pass(database: Database) -> None:
    """Nothing is deleted by a call that names no age."""
    sink = database.sink()

    with pytest.raises(ValueError, match="older_than="):
        await sink.prune()


ODD_TEXTS = ("12345678\0", "\ud800abcdefgh", "\U0010ffff" * 9, "'; DROP TABLE ffb_tool_calls; --", "%" * 8, "x" * 5000)


@pytest.mark.parametrize("odd", ODD_TEXTS, ids=range(len(ODD_TEXTS)))
async def test_questions_take_any_text(database: Database, odd: str) -> None:
    """What a client quotes, names or links is bound and cleaned like what is stored."""
    sink = database.sink()
    record = call_in(odd, user_sub=odd)
    await sink.write([record, event(key=odd, kind=odd)])

    by_key = await sink.recent_calls(conversation_key=odd, user_sub=None, ids=[odd])
    by_user = await sink.recent_calls(conversation_key=None, user_sub=odd)
    await sink.write_links(odd, [link(record)])

    assert [row["id"] for row in by_key] == [row["id"] for row in by_user] == [record.id]
    assert len(await sink.read_context(odd)) == 1
    assert len(await sink.read_events(odd, [odd])) == 1
    assert await sink.read_calls([odd]) == []


async def test_many_calls_are_read_at_once(database: Database) -> None:
    """More ids than one statement takes, unknown ones among them."""
    sink = database.sink()
    records = [call(n) for n in range(1200)]
    await sink.write(records)

    found = await sink.read_calls([record.id for record in records] + [f"no-{n}" for n in range(900)])

    assert [row["id"] for row in found] == [record.id for record in records]
