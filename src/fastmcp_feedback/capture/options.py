"""Settings of the capture and shaping stages, checked when they are made."""

from __future__ import annotations

import inspect
import logging
import math
import os
import random as random_module
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

MODES = ("off", "meta", "full")
MODE_ENV_VAR = "FEEDBACK_INSTRUMENTATION_MODE"

logger = logging.getLogger("fastmcp_feedback")


def resolve_mode(mode: str | None) -> str:
    """The mode to run in: the argument, else the environment, else `meta`.

    Raises:
        ValueError: the argument is not one of `MODES`. A wrong environment value is only warned about.
    """
    if mode is not None:
        if mode not in MODES:
            msg = f"mode={mode!r}: must be one of {', '.join(MODES)}"
            raise ValueError(msg)
        return mode
    wanted = os.environ.get(MODE_ENV_VAR, "").strip().lower()
    if not wanted:
        return "meta"
    if wanted not in MODES:
        logger.warning("%s=%r is not one of %s: recording in mode 'meta'", MODE_ENV_VAR, wanted, ", ".join(MODES))
        return "meta"
    return wanted


def names(option: str, value: Iterable[str]) -> frozenset[str]:
    """A set of tool names; a bare string is a mistake worth naming."""
    if isinstance(value, str):
        msg = f"{option}={value!r}: must be a collection of names, such as ({value!r},)"
        raise ValueError(msg)
    found = frozenset(value)
    odd = [name for name in found if not isinstance(name, str)]
    if odd:
        msg = f"{option}: {odd[0]!r} is not a name"
        raise ValueError(msg)
    return found


def positive(option: str, value: Any, *, whole: bool) -> None:
    """Raise ValueError unless `value` is a positive (whole) number."""
    kinds = int if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not value > 0 or (not whole and math.isinf(value)):
        msg = f"{option}={value!r}: must be a positive {'whole number' if whole else 'number of seconds'}"
        raise ValueError(msg)


def rates(value: Mapping[str, float]) -> dict[str, float]:
    """Sample rates by tool, each above 0 and at most 1."""
    checked = dict(value)
    for tool, rate in checked.items():
        if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 < rate <= 1:
            msg = f"sample_rates[{tool!r}]={rate!r}: must be above 0 and at most 1 (use exclude_tools to record nothing)"
            raise ValueError(msg)
    return checked


def function(option: str, value: Any) -> None:
    """Raise TypeError unless `value` is None or can be called."""
    if value is not None and not callable(value):
        msg = f"{option} must be a function or None, got {type(value).__name__}"
        raise TypeError(msg)


def plain_function(option: str, value: Any) -> None:
    """Raise TypeError unless `value` is None or a function without `async`: it runs on a thread that has no loop."""
    function(option, value)
    called = value if inspect.isroutine(value) else getattr(value, "__call__", None)  # noqa: B004 - the method itself is asked
    if inspect.iscoroutinefunction(value) or inspect.iscoroutinefunction(called):
        msg = f"{option} must be a plain function, not an async one: it runs on the shaping thread, which has no event loop"
        raise TypeError(msg)


@dataclass(frozen=True, slots=True)
class CaptureOptions:
    """How calls are captured and shaped. Times in seconds, sizes in bytes, texts in characters."""

    mode: str | None = None
    meta_only_tools: Iterable[str] = ()
    exclude_tools: Iterable[str] = ()
    identity_resolver: Callable[[Any], Any] | None = None
    late_identity_keys: Iterable[str] = ()
    enricher: Callable[[str, Any, Any, Any], Any] | None = None
    server_version: str | None = None
    hook_timeout: float = 0.25
    result_classifier: Callable[[str, Any], str | None] | None = None
    fault_hook: Callable[[Any, BaseException | None], str | None] | None = None
    sample_rates: Mapping[str, float] = field(default_factory=dict)
    random: Callable[[], float] = random_module.random
    max_error_chars: int = 500
    max_payload_bytes: int | None = 65536
    events_inherit_identity: bool = False
    capture_llm_text: bool = False
    max_llm_text_chars: int | None = None
    recent_calls: int = 2000
    recent_events: int = 2000
    correlation_timeout: float = 1.0
    call_reference: bool = False

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "mode", resolve_mode(self.mode))
        for option in ("meta_only_tools", "exclude_tools", "late_identity_keys"):
            put(self, option, names(option, getattr(self, option)))
        put(self, "sample_rates", rates(self.sample_rates))
        for option in ("max_error_chars", "recent_calls", "recent_events"):
            positive(option, getattr(self, option), whole=True)
        if self.max_payload_bytes is not None:
            positive("max_payload_bytes", self.max_payload_bytes, whole=True)
        if self.max_llm_text_chars is None:
            put(self, "max_llm_text_chars", 8 * self.max_error_chars)
        positive("max_llm_text_chars", self.max_llm_text_chars, whole=True)
        for option in ("events_inherit_identity", "capture_llm_text", "call_reference"):
            if not isinstance(getattr(self, option), bool):
                raise ValueError(f"{option}={getattr(self, option)!r}: must be True or False")
        for option in ("hook_timeout", "correlation_timeout"):
            positive(option, getattr(self, option), whole=False)
        self._check_functions()
        if self.server_version is not None and not isinstance(self.server_version, str):
            msg = f"server_version={self.server_version!r}: must be text or None"
            raise ValueError(msg)

    def _check_functions(self) -> None:
        for option in ("identity_resolver", "enricher"):
            function(option, getattr(self, option))
        for option in ("result_classifier", "fault_hook", "random"):
            plain_function(option, getattr(self, option))
