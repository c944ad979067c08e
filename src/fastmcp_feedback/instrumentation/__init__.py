"""The public face: everything a server needs to record its calls. See `docs/` for the options of each name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..capture.identity import default_identity_resolver
from ..capture.options import MODE_ENV_VAR, MODES
from ..records import CallLink, EventRecord, Failure, ToolCallRecord
from ..shaping.classify import DEFAULT_RESULT_CLASSIFIER, ResultClassifier, soft_error_classifier
from ..shaping.redact import REDACTED, Redactor
from ..sink import Sink
from ..sinks.callback import CallbackSink
from ..sinks.jsonlines import JsonLinesSink
from ..sinks.memory import MemorySink
from .lifecycle import instrument
from .middleware import InstrumentationMiddleware

if TYPE_CHECKING:
    from ..shaping.thorough import thorough_classifier
    from ..store import DatabaseSink, build_metadata

# Loaded on first use: what needs SQLAlchemy or is seldom used.
_LATE = {
    "DatabaseSink": "fastmcp_feedback.store",
    "build_metadata": "fastmcp_feedback.store",
    "thorough_classifier": "fastmcp_feedback.shaping.thorough",
}

__all__ = [
    "DEFAULT_RESULT_CLASSIFIER",
    "MODES",
    "MODE_ENV_VAR",
    "REDACTED",
    "CallLink",
    "CallbackSink",
    "DatabaseSink",
    "EventRecord",
    "Failure",
    "InstrumentationMiddleware",
    "JsonLinesSink",
    "MemorySink",
    "Redactor",
    "ResultClassifier",
    "Sink",
    "ToolCallRecord",
    "build_metadata",
    "default_identity_resolver",
    "instrument",
    "soft_error_classifier",
    "thorough_classifier",
]


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})


def __getattr__(name: str) -> Any:
    if name in _LATE:
        from importlib import import_module  # noqa: PLC0415 - only when a late name is asked for

        value = getattr(import_module(_LATE[name]), name)
        globals()[name] = value
        return value
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
