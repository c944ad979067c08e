"""Checks what a recorder is made of: sinks, options, redactor."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from typing import Any, TypeVar

from ..capture.options import CaptureOptions
from ..delivery.options import DeliveryOptions
from ..jsonsafe import encode
from ..records import EventRecord, ToolCallRecord, encoded_payload
from ..shaping.classify import DEFAULT_RESULT_CLASSIFIER
from ..shaping.redact import Redactor
from ..sinks.jsonlines import JsonLinesSink

_CAPTURE = {f.name for f in fields(CaptureOptions)}
_DELIVERY = {f.name for f in fields(DeliveryOptions)}
OPTIONS = frozenset(_CAPTURE | _DELIVERY | {"redactor"})


F = TypeVar("F", bound=Callable[..., Any])


def shows_options(function: F) -> F:
    """Let `inspect.signature` and `help` show every option by name instead of `**options`."""
    shown = [p for p in inspect.signature(function).parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    for f in (*fields(CaptureOptions), *fields(DeliveryOptions)):
        default = DEFAULT_RESULT_CLASSIFIER if f.name == "result_classifier" else f.default
        default = f.default_factory() if f.default_factory is not MISSING else default
        shown.append(inspect.Parameter(f.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=f.type))
    shown.append(inspect.Parameter("redactor", inspect.Parameter.KEYWORD_ONLY, default=None))
    function.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined] # inspect looks for it
    return function


def sort_options(options: dict[str, Any]) -> tuple[CaptureOptions, DeliveryOptions, Any]:
    """The checked settings of both stages, and the redactor.

    Raises:
        TypeError: an option that does not exist, or a redactor without the methods of one.
        ValueError: a value out of range.
    """
    unknown = sorted(options.keys() - OPTIONS)
    if unknown:
        raise TypeError(f"unknown option {unknown[0]!r}; known are {', '.join(sorted(OPTIONS))}")
    redactor = options.get("redactor")
    redactor = Redactor() if redactor is None else redactor
    for method in ("redact", "redact_text"):
        if not callable(getattr(redactor, method, None)):
            raise TypeError(f"redactor must have a method {method} (see Redactor), got {type(redactor).__name__}")
    capture = {"result_classifier": DEFAULT_RESULT_CLASSIFIER} | {k: v for k, v in options.items() if k in _CAPTURE}
    delivery = {k: v for k, v in options.items() if k in _DELIVERY}
    return CaptureOptions(**capture), DeliveryOptions(**delivery), redactor


def check_sinks(sinks: Sequence[Any] | None) -> list[Any]:
    """The sinks as a list; `[JsonLinesSink()]` for None.

    Raises:
        TypeError: not a list of objects with `write`.
    """
    if sinks is None:
        return [JsonLinesSink()]
    if hasattr(sinks, "write") or isinstance(sinks, (str, bytes)):
        raise TypeError(f"sinks must be a list of sinks, got a single {type(sinks).__name__}: put it into [ ]")
    checked = list(sinks)
    for sink in checked:
        if isinstance(sink, type) or not callable(getattr(sink, "write", None)):
            what = f"the class {sink.__name__}" if isinstance(sink, type) else type(sink).__name__
            raise TypeError(f"a sink needs `async write(records)`; {what} has none that can be called (pass an instance of a Sink)")
    return checked


def payload_bytes(record: ToolCallRecord | EventRecord) -> int:
    """About how much memory a record's payloads take while it waits."""
    names = ("args", "result") if isinstance(record, ToolCallRecord) else ("attrs",)
    total = 0
    for name in names:
        found = encoded_payload(record, name)
        if found is not None:
            total += len(found.data)
        else:
            value = getattr(record, name)
            total += len(encode(value).data) if value else 0
    return total
