"""Words of a failure that refuse an argument by its name."""

from __future__ import annotations

import pytest

from fastmcp_feedback.shaping.failure import derive_failure


@pytest.mark.parametrize(
    ("message", "refused"),
    [
        ("isError: Error executing tool get_current_time: Invalid timezone: 'Mars/Olympus_Mons'", "timezone"),
        ("error: unknown 'project id' p-9", "project_id"),
        ("Unsupported output-format", "output_format"),
        ("error: invalid state of the renderer", None),
        ("error: invalid timezones table", None),
        ("error: the timezone service said no", None),
    ],
)
def test_a_refused_argument_is_known_by_its_name(message: str, refused: str | None) -> None:
    """Words such as `Invalid timezone` blame the caller only where the call had an argument of that name."""
    found = derive_failure(
        tool="t",
        outcome="soft_error",
        error_type="SoftError",
        error_message=message,
        exception=None,
        cancelled=False,
        arguments={"timezone": 1, "project_id": 2, "output_format": 3},
    )
    assert found is not None
    expected = ("caller", "bad_arguments", (refused,)) if refused else ("server", "reported", ())
    assert (found.fault, found.category, found.bad_arguments) == expected
