"""`record_llm_call`: events of kind `llm.call`."""

from __future__ import annotations

from typing import Any

import pytest

from fastmcp_feedback.instrumentation import InstrumentationMiddleware, MemorySink
from support.studio import recording

SECRET = "sk-proj-" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z" * 2


async def attrs_of(mw: InstrumentationMiddleware, sink: MemorySink) -> dict[str, Any]:
    """The attrs of the newest event."""
    await mw.flush()
    assert sink.events[-1].kind == "llm.call"
    return sink.events[-1].attrs


async def test_a_call_that_went_well_has_what_was_passed_and_no_more() -> None:
    """`ok` is true without an error; absent values leave no key."""
    async with recording() as (_client, sink, mw):
        assert mw.record_llm_call(model="small-1")
        assert await attrs_of(mw, sink) == {"model": "small-1", "ok": True}
        assert mw.record_llm_call(
            model="small-1", provider="p", duration_ms=1.5, input_tokens=20, output_tokens=0, key=7, attrs={"stage": "plan", "ok": "mine"}
        )
        attrs = await attrs_of(mw, sink)
        assert attrs == {
            "model": "small-1",
            "ok": True,
            "provider": "p",
            "duration_ms": 1.5,
            "input_tokens": 20,
            "output_tokens": 0,
            "stage": "plan",
        }
        assert list(attrs)[:2] == ["model", "ok"]
        assert sink.events[-1].key == "7"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("overloaded", {"error": "overloaded"}),
        (TimeoutError("30 s"), {"error": "30 s", "error_type": "TimeoutError"}),
        ("x" * 600, {"error": "x" * 500}),
        (f"bad key {SECRET}", {"error": "bad key [REDACTED]"}),
    ],
)
async def test_an_error_makes_it_fail(error: Any, expected: dict[str, str]) -> None:
    """Its text is redacted and cut; its type stands there when it is an exception."""
    async with recording() as (_client, sink, mw):
        mw.record_llm_call(model="m", error=error)
        assert await attrs_of(mw, sink) == {"model": "m", "ok": False, **expected}
        mw.record_llm_call(model="m", error=error, ok=True)
        assert (await attrs_of(mw, sink))["ok"] is True


async def test_an_exception_without_a_text_is_no_trouble() -> None:
    """One whose `__str__` fails is recorded all the same."""

    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    async with recording() as (_client, sink, mw):
        assert mw.record_llm_call(model="m", error=Odd())
        assert await attrs_of(mw, sink) == {"model": "m", "ok": False, "error": "<unprintable Odd>", "error_type": "Odd"}


async def test_prompt_and_completion_are_dropped_wherever_they_hide() -> None:
    """As arguments, in attrs, and deeper in attrs."""
    async with recording() as (_client, sink, mw):
        mw.record_llm_call(
            model="m",
            prompt="who am I",
            completion="you",
            attrs={
                "prompt": "hidden",
                "completion": "too",
                "request": {"prompt": "deep", "n": 1},
                "steps": [{"completion": "deeper"}, ("a",)],
            },
        )
        assert await attrs_of(mw, sink) == {"model": "m", "ok": True, "request": {"n": 1}, "steps": [{}, ["a"]]}


async def test_text_is_kept_redacted_and_cut_when_asked_for() -> None:
    """From the arguments or from attrs, the arguments first; other values as JSON text."""
    async with recording(capture_llm_text=True, max_llm_text_chars=30) as (_client, sink, mw):
        mw.record_llm_call(model="m", prompt=f"key {SECRET} and a long rest of it all", completion="y" * 50, attrs={"prompt": "other"})
        attrs = await attrs_of(mw, sink)
        assert attrs == {"model": "m", "ok": True, "prompt": "key [REDACTED] and a long rest", "completion": "y" * 30}
        mw.record_llm_call(model="m", prompt=[{"role": "user"}], attrs={"completion": "from attrs"})
        attrs = await attrs_of(mw, sink)
        assert (attrs["prompt"], attrs["completion"]) == ('[{"role":"user"}]', "from attrs")


async def test_the_default_limit_of_text_is_eight_error_texts() -> None:
    """8 x max_error_chars."""
    async with recording(capture_llm_text=True, max_error_chars=10) as (_client, sink, mw):
        mw.record_llm_call(model="m", prompt="word " * 100)
        assert len((await attrs_of(mw, sink))["prompt"]) == 80


async def test_attrs_that_are_no_dict_are_refused(caplog: pytest.LogCaptureFixture) -> None:
    """As for any event."""
    async with recording() as (_client, sink, mw):
        assert mw.record_llm_call(model="m", attrs="stage=plan") is False  # type: ignore[arg-type] # that is the point
        assert "attrs must be a dict, got str" in caplog.text
        await mw.flush()
        assert sink.events == []


async def test_mode_off_records_none() -> None:
    """False."""
    async with recording(mode="off") as (_client, _sink, mw):
        assert mw.record_llm_call(model="m") is False
