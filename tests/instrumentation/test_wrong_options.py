"""Wrong options are errors when the recorder is made, and say what is allowed."""

from __future__ import annotations

from typing import Any

import pytest

from fastmcp_feedback.instrumentation import (
    InstrumentationMiddleware,
    MemorySink,
    instrument,
)
from support.studio import studio

Contained = list[tuple[str, BaseException]]


async def _later(_first: object, _second: object) -> str | None:
    return None


class _Later:
    """An object that is called like an async function."""

    async def __call__(self, _first: object, _second: object) -> str | None:
        return None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "loud"}, "mode='loud': must be one of off, meta, full"),
        ({"sample_rates": {"t": 0}}, "above 0 and at most 1"),
        ({"sample_rates": {"t": 1.5}}, "above 0 and at most 1"),
        ({"sample_rates": {"t": float("nan")}}, "above 0 and at most 1"),
        ({"max_payload_bytes": 0}, "max_payload_bytes=0: must be a positive whole number"),
        ({"max_error_chars": -5}, "max_error_chars=-5: must be"),
        ({"hook_timeout": 0}, "hook_timeout=0: must be"),
        ({"spool": "a\0b"}, "a path cannot hold the character NUL"),
        ({"exclude_tools": "render"}, r"must be a collection of names, such as \('render',\)"),
    ],
)
def test_a_wrong_option_is_a_value_error_that_says_what_is_allowed(options: dict[str, Any], message: str) -> None:
    """At construction, naming the option."""
    with pytest.raises(ValueError, match=message):
        InstrumentationMiddleware([], **options)


@pytest.mark.parametrize(
    ("sinks", "options", "message"),
    [
        ([], {"modus": "full"}, "unknown option 'modus'"),
        ([object()], {}, "needs `async write"),
        ([MemorySink], {}, "the class MemorySink"),
        (MemorySink(), {}, r"put it into \[ \]"),
        ([], {"identity_resolver": "who"}, "identity_resolver must be a function"),
        ([], {"redactor": object()}, "redactor must have a method redact"),
        ([], {"result_classifier": _later}, "result_classifier must be a plain function, not an async one"),
        ([], {"fault_hook": _Later()}, "fault_hook must be a plain function, not an async one"),
    ],
)
def test_a_wrong_kind_of_thing_is_a_type_error(sinks: Any, options: dict[str, Any], message: str) -> None:
    """A sink without `write`, a hook that is no function, an option that does not exist."""
    with pytest.raises(TypeError, match=message):
        InstrumentationMiddleware(sinks, **options)


def test_instrumenting_twice_is_an_error() -> None:
    """The second recorder would record everything twice."""
    app = studio()
    instrument(app, [MemorySink()])
    with pytest.raises(ValueError, match="'studio' is instrumented already"):
        instrument(app, [MemorySink()])
    with pytest.raises(TypeError, match="takes a FastMCP server"):
        instrument(object())
