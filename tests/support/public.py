"""The public names as committed: a change to one of these lists is a decision, and belongs into the changelog."""

from __future__ import annotations

from typing import Final

PUBLIC_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "fastmcp_feedback": (
        "__version__",
        "add_feedback_tools",
        "add_insight_tools",
        "create_feedback_server",
        "instrument",
        "mount_dashboard",
    ),
    "fastmcp_feedback.testing": ("assert_no_secret", "contained_errors", "recording"),
    "fastmcp_feedback.instrumentation": (
        "CallLink",
        "CallbackSink",
        "DEFAULT_RESULT_CLASSIFIER",
        "DatabaseSink",
        "EventRecord",
        "Failure",
        "InstrumentationMiddleware",
        "JsonLinesSink",
        "MODES",
        "MODE_ENV_VAR",
        "MemorySink",
        "REDACTED",
        "Redactor",
        "ResultClassifier",
        "Sink",
        "ToolCallRecord",
        "build_metadata",
        "default_identity_resolver",
        "instrument",
        "soft_error_classifier",
        "thorough_classifier",
    ),
}
