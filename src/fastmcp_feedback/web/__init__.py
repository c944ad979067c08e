"""The dashboard: questions of `query/` as pages for people, each with a JSON twin for programs."""

from typing import Final

TOKEN_ENV_VAR: Final = "FASTMCP_FEEDBACK_DASHBOARD_TOKEN"  # noqa: S105 - its name
