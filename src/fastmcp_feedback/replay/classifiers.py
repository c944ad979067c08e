"""Which classifier can tell again that a recorded result was a failure?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..shaping.classify import DEFAULT_RESULT_CLASSIFIER, ResultClassifier
from ..shaping.thorough import thorough_classifier

DEFAULT: Final = "default"
THOROUGH: Final = "thorough"
ERROR_FLAG: Final = "isError: "


def classifier_name(call: Mapping[str, Any]) -> str | None:
    """`default`, `thorough`, or None: a classifier of the host's own decided, and only the host knows it."""
    result, failed = call["result"], call["outcome"] == "soft_error"
    if not failed or result is None or str(call["error_message"]).startswith(ERROR_FLAG):
        return DEFAULT
    if DEFAULT_RESULT_CLASSIFIER(call["tool"], result) is not None:
        return DEFAULT
    return THOROUGH if thorough_classifier()(call["tool"], result) is not None else None


def classifier(name: str | None) -> ResultClassifier:
    """The classifier of that name; the default one for None."""
    return thorough_classifier() if name == THOROUGH else DEFAULT_RESULT_CLASSIFIER
