"""Hooks, classifiers and redactors that raise, hang or return rubbish: the client sees nothing of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from fastmcp_feedback.instrumentation import (
    Redactor,
)
from support.studio import call, recording, studio

Contained = list[tuple[str, BaseException]]


@pytest.mark.parametrize("hook", ["identity_resolver", "enricher"])
@pytest.mark.parametrize("trouble", ["raises", "hangs", "rubbish"])
async def test_a_hook_in_trouble_costs_nothing_but_its_answer(hook: str, trouble: str, contained: Contained) -> None:
    """The client gets its answer and the record is there, whatever a hook does."""

    async def bad(*_args: Any) -> Any:
        if trouble == "raises":
            raise RuntimeError("hook")
        if trouble == "hangs":
            await asyncio.Event().wait()
        return ["rubbish"]

    options: dict[str, Any] = {hook: bad, "hook_timeout": 0.02}
    async with recording(**options) as (client, sink, mw):
        answer = await call(client, "ping")
        assert answer.content[0].text == "pong"
        await mw.flush()
        (record,) = sink.calls
        assert (record.outcome, record.extra, record.identity) == ("ok", {}, {})
    assert [where for where, _ in contained] == ([hook] if trouble == "raises" else [])


async def test_a_classifier_that_raises_or_returns_rubbish_means_ok(contained: Contained) -> None:
    """It is logged, and the call counts as ok."""

    def broken(tool: str, result: Any) -> Any:
        if tool == "ping":
            raise RuntimeError("classifier")
        return 42

    async with recording(result_classifier=broken) as (client, sink, mw):
        await call(client, "ping")
        await call(client, "render", scene="big")
        await mw.flush()
        assert [record.outcome for record in sink.calls] == ["ok", "ok"]
    assert [where for where, _ in contained] == ["result_classifier"]


async def test_a_classifier_of_the_host_decides_and_none_switches_it_off() -> None:
    """`result_classifier=None` leaves only what raised; a host's own works on decoded copies."""

    def mine(_tool: str, result: dict[str, Any]) -> str | None:
        result["changed"] = True
        return "my rule" if result.get("status") == "done" else None

    async with recording(mode="full", result_classifier=mine) as (client, sink, mw):
        answer = await call(client, "render", scene="a")
        assert answer.structured_content == {"status": "done"}
        await mw.flush()
        assert [(r.outcome, r.error_message, r.result) for r in sink.calls] == [("soft_error", "my rule", {"status": "done"})]
    async with recording(result_classifier=None) as (client, sink, mw):
        await call(client, "render", scene="big")
        await mw.flush()
        assert [r.outcome for r in sink.calls] == ["ok"]


class _BrokenRedactor(Redactor):
    def redact(self, value: Any) -> Any:
        raise RuntimeError("redactor")

    def redact_text(self, text: str) -> str:
        raise RuntimeError("redactor")


async def test_a_redactor_that_raises_leaks_nothing(contained: Contained) -> None:
    """The record is stored without what could not be redacted."""
    async with recording(mode="full", redactor=_BrokenRedactor()) as (client, sink, mw):
        await call(client, "render", scene="hush", api_key="k-123456789")
        await call(client, "boom", text="hush hush")
        await mw.flush()
        assert len(sink.calls) == 2
        assert "hush" not in repr(sink.calls)
        assert "123456789" not in repr(sink.calls)
    assert {where for where, _ in contained} == {"redactor"}


async def test_a_redactor_of_the_hosts_own_is_asked() -> None:
    """A subclass that knows more is used for payloads and for texts."""

    class Mine(Redactor):
        def redact_text(self, text: str) -> str:
            return super().redact_text(text).replace("scene-9", "<scene>")

        def redact(self, value: Any) -> Any:
            if isinstance(value, Mapping):
                return {key: self.redact(item) for key, item in super().redact(value).items()}
            return self.redact_text(value) if isinstance(value, str) else value

    async with recording(mode="full", redactor=Mine()) as (client, sink, mw):
        await call(client, "boom", text="scene-9 fails")
        await mw.flush()
        (record,) = sink.calls
        assert (record.args, record.error_message) == ({"text": "<scene> fails"}, "<scene> fails")


async def test_a_secret_of_the_arguments_stays_out_of_everything_later_in_meta_mode_too() -> None:
    """The value removed from the arguments does not come back in the error text, extra or an event."""
    app = studio()

    @app.tool
    async def login(password: str) -> str:
        mw.record_event("login.tried", attrs={"note": f"with {password}"})
        raise PermissionError(f"wrong password {password}")

    for mode in ("meta", "full"):
        async with recording(app, mode=mode, enricher=lambda _t, a, _r, _c: {"tried": f"<{a['password']}>"}) as (client, sink, recorder):
            mw = recorder
            await call(client, "login", password="s3cr3t-w0rd")
            await mw.flush()
            assert len(sink.records) == 2
            assert "s3cr3t-w0rd" not in repr(sink.records)
        app.middleware.clear()
