"""Events: what `record_event` and `events_for` promise."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from hypothesis import given
from hypothesis import strategies as st

from fastmcp_feedback.instrumentation import DatabaseSink, EventRecord, InstrumentationMiddleware, MemorySink, instrument
from fastmcp_feedback.jsonsafe import encode
from fastmcp_feedback.shaping.trim import fit_attrs
from support.studio import call, recording

Contained = list[tuple[str, BaseException]]


def who(_context: Any) -> dict[str, Any]:
    """A resolver that always says the same."""
    return {"user_sub": "ann", "caller_kind": "agent", "client_id": "c-1"}


async def only(mw: InstrumentationMiddleware, sink: MemorySink) -> EventRecord:
    """The one event recorded so far."""
    await mw.flush()
    (event,) = sink.events
    return event


async def test_an_event_inside_a_call_takes_its_id_and_session() -> None:
    """From the tool itself, a thread and a task that ends before the call does."""
    app: FastMCP[Any] = FastMCP("studio")

    @app.tool
    async def work() -> str:
        mw.record_event("tool")
        await asyncio.to_thread(mw.record_event, "thread")
        await asyncio.create_task(asyncio.sleep(0, mw.record_event("task")))
        return "done"

    async with recording(app) as (client, sink, recorder):
        mw = recorder
        await call(client, "work")
        await mw.flush()
        [record] = sink.calls
        assert sorted(event.kind for event in sink.events) == ["task", "thread", "tool"]
        assert {(event.call_id, event.session_id) for event in sink.events} == {(record.id, record.session_id)}


async def test_threads_without_a_context_and_tasks_that_outlive_their_call_are_outside() -> None:
    """They may record, but their events belong to no call."""
    app: FastMCP[Any] = FastMCP("studio")
    go_on, tasks = asyncio.Event(), list[asyncio.Task[None]]()

    @app.tool
    async def work() -> str:
        async def later() -> None:
            await go_on.wait()
            mw.record_event("late")

        tasks.append(asyncio.create_task(later()))
        thread = threading.Thread(target=mw.record_event, args=("plain thread",))
        thread.start()
        thread.join()
        return "done"

    async with recording(app) as (client, sink, recorder):
        mw = recorder
        await call(client, "work")
        go_on.set()
        await asyncio.gather(*tasks)
        assert mw.current_call_id() is None
        await mw.flush()
        assert sorted((event.kind, event.call_id, event.session_id) for event in sink.events) == [
            ("late", None, None),
            ("plain thread", None, None),
        ]


async def test_an_explicit_call_id_wins_and_brings_no_session() -> None:
    """Another call's id is taken as it is; the running call's own id is the running call."""
    app: FastMCP[Any] = FastMCP("studio")

    @app.tool
    async def work() -> str:
        mw.record_event("other", call_id="another-call")
        mw.record_event("own", call_id=mw.current_call_id())
        return "done"

    async with recording(app) as (client, sink, recorder):
        mw = recorder
        await call(client, "work")
        await mw.flush()
        [record] = sink.calls
        assert [(event.kind, event.call_id, event.session_id) for event in sink.events] == [
            ("other", "another-call", None),
            ("own", record.id, record.session_id),
        ]


@pytest.mark.parametrize("inherit", [False, True])
async def test_identity_is_inherited_only_when_asked_for(*, inherit: bool) -> None:
    """Explicit values come first; otherwise `user_sub` is what was passed and the other two stay empty."""
    app: FastMCP[Any] = FastMCP("studio")

    @app.tool
    async def work() -> str:
        mw.record_event("plain")
        mw.record_event("explicit", user_sub="bob")
        return "done"

    async with recording(app, identity_resolver=who, events_inherit_identity=inherit, server_version="3.1") as (client, sink, recorder):
        mw = recorder
        await call(client, "work")
        mw.record_event("outside", user_sub=7)  # type: ignore[arg-type] # any value is made text
        await mw.flush()
        rest = ("agent", "c-1") if inherit else (None, None)
        assert [(e.kind, e.user_sub, e.caller_kind, e.client_id, e.server_version) for e in sink.events] == [
            ("plain", "ann" if inherit else None, *rest, "3.1"),
            ("explicit", "bob", *rest, "3.1"),
            ("outside", "7", None, None, "3.1"),
        ]


@pytest.mark.parametrize(
    ("kind", "options", "what"),
    [
        ("", {}, "kind must be non-empty text"),
        ("  ", {}, "kind must be non-empty text"),
        (7, {}, "kind must be non-empty text, got int"),
        ("k" * 129, {}, "kind has 129 characters"),
        ("step", {"key": "k" * 256}, "key has 256 characters"),
        ("step", {"attrs": ["a"]}, "attrs must be a dict, got list"),
        ("step", {"attrs": "a=1"}, "attrs must be a dict, got str"),
    ],
)
async def test_what_is_no_event_is_refused_with_a_warning(
    kind: Any, options: dict[str, Any], what: str, caplog: pytest.LogCaptureFixture
) -> None:
    """False, one line in the log, nothing recorded, nothing raised."""
    async with recording() as (_client, sink, mw):
        assert mw.record_event(kind, **options) is False
        assert what in caplog.text
        await mw.flush()
        assert sink.records == []


async def test_the_longest_kind_and_key_and_odd_keys_are_taken() -> None:
    """128 characters of kind, 255 of key; a key that is no text is made text."""
    async with recording() as (_client, sink, mw):
        assert mw.record_event("k" * 128, key="x" * 255)
        for key in (7, 2.5, True, None, ("a", 1)):
            assert mw.record_event("odd", key=key)
        await mw.flush()
        assert (len(sink.events[0].kind), len(sink.events[0].key or "")) == (128, 255)
        assert [event.key for event in sink.events[1:]] == ["7", "2.5", "True", None, "('a', 1)"]


async def test_a_key_that_cannot_be_made_text_is_refused(contained: Contained) -> None:
    """A failing `__str__` costs the event, never the caller."""

    class Odd:
        def __str__(self) -> str:
            raise RuntimeError("no text")

    async with recording() as (_client, sink, mw):
        assert mw.record_event("step", key=Odd()) is False
        assert mw.record_event("step", attrs={"odd": Odd()}) is True
        assert [where for where, _ in contained] == ["record_event"]
        assert (await only(mw, sink)).attrs == {"odd": "<unprintable Odd>"}


async def test_events_for_shows_an_event_as_soon_as_it_is_recorded() -> None:
    """Oldest first, the newest `limit`, of the kinds asked for; as dicts with ISO times."""
    async with recording() as (_client, sink, mw):
        for n in range(6):
            mw.record_event("even" if n % 2 == 0 else "odd", key="job", attrs={"n": n})
        mw.record_event("even", key="another")
        assert [e["attrs"]["n"] for e in await mw.events_for("job")] == list(range(6))
        assert [e["attrs"]["n"] for e in await mw.events_for("job", kinds=["odd"])] == [1, 3, 5]
        assert [e["attrs"]["n"] for e in await mw.events_for("job", kinds="even", limit=2)] == [2, 4]
        assert await mw.events_for("job", limit=0) == await mw.events_for("job", kinds=[]) == await mw.events_for("nobody") == []
        await mw.flush()
        assert await mw.events_for("job") == [event.to_dict() for event in sink.events[:6]]


async def test_events_for_joins_memory_with_what_another_recorder_stored(tmp_path: Any) -> None:
    """Two recorders on one SQLite file: each event once, in order, in the form of `to_dict`."""
    app_a, app_b = FastMCP("a"), FastMCP("b")
    one, two = (instrument(app, [DatabaseSink(f"sqlite:///{tmp_path}/calls.db")]) for app in (app_a, app_b))
    secret_key = "password=hunter22-of-ann"
    for n in range(3):
        (one, two)[n % 2].record_event("step", key="job", attrs={"n": n, "when": 2**70})
    one.record_event("secret", key=secret_key)
    assert await one.flush()
    assert await two.flush()
    seen = await one.events_for("job")
    assert seen == await two.events_for("job")
    assert [event["attrs"] for event in seen] == [{"n": n, "when": 2**70} for n in range(3)]
    assert [event["kind"] for event in await two.events_for(secret_key)] == ["secret"]
    assert [event["attrs"]["n"] for event in await two.events_for("job", limit=2)] == [1, 2]
    fresh = instrument(FastMCP("c"), [DatabaseSink(f"sqlite:///{tmp_path}/calls.db")])
    assert await fresh.events_for("job") == seen  # all from the database
    for recorder in (one, two, fresh):
        await recorder.aclose()


async def test_attrs_lose_secrets_and_what_the_call_s_arguments_lost() -> None:
    """A value redacted in the arguments is redacted in the events of that call, wherever it stands."""
    app: FastMCP[Any] = FastMCP("studio")

    @app.tool
    async def login(password: str) -> str:
        mw.record_event("login", attrs={"url": f"https://db/?p={password}", "api_key": "k-123456", "note": "fine"})
        return "done"

    async with recording(app) as (client, sink, recorder):
        mw = recorder
        await call(client, "login", password="correct-horse-battery")
        assert "correct-horse" not in str(await mw.events_for("none")) + str((await only(mw, sink)).to_dict())
        attrs = sink.events[0].attrs
        assert (attrs["api_key"], attrs["note"]) == ("[REDACTED]", "fine")
        assert "[REDACTED]" in attrs["url"]


async def test_only_the_largest_attrs_are_replaced_until_the_whole_fits() -> None:
    """One at a time; the small ones stay as they are."""
    async with recording(max_payload_bytes=2000) as (_client, sink, mw):
        mw.record_event("big", attrs={"a": "x" * 5000, "b": "y" * 700, "c": "z" * 600, "n": 1})
        attrs = (await only(mw, sink)).attrs
        assert attrs["a"] == {"_truncated": True, "size": 5002, "preview": '"' + "x" * 499}
        assert (attrs["b"], attrs["c"], attrs["n"]) == ("y" * 700, "z" * 600, 1)
        assert (encode(attrs).size or 0) <= 2000


async def test_attrs_that_cannot_fit_become_one_marker() -> None:
    """When even markers are too many."""
    async with recording(max_payload_bytes=1000) as (_client, sink, mw):
        mw.record_event("many", attrs={f"key number {n}": n for n in range(500)})
        attrs = (await only(mw, sink)).attrs
        assert set(attrs) == {"_truncated", "size", "preview"}
        assert attrs["size"] == len(str({f"key number {n}": n for n in range(500)}))
        assert len(attrs["preview"]) == 250


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


@given(st.dictionaries(st.text(), values), st.integers(20, 2000))
def test_fitted_attrs_fit_or_are_one_marker(attrs: dict[str, Any], limit: int) -> None:
    """Whatever the values, and what did fit is untouched."""
    safe = encode(attrs).decode()
    fitted = fit_attrs(safe, encode(safe).size, limit)
    if (encode(safe).size or 0) <= limit:
        assert fitted == safe
    elif (encode(fitted).size or 0) > limit:
        assert set(fitted) == {"_truncated", "size", "preview"}


async def test_mode_off_has_no_events() -> None:
    """False and an empty list."""
    app: FastMCP[Any] = FastMCP("off")
    mw = instrument(app, [MemorySink()], mode="off")
    async with Client(app):
        assert mw.record_event("step", key="k") is False
        assert await mw.events_for("k") == []
