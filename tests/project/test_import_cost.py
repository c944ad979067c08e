"""Importing the recorder is cheap: what a host does not use is not loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Final

import pytest

HEAVY: Final = {
    "aiosqlite", "alembic", "asyncpg", "clickhouse_connect", "jinja2", "numpy", "opentelemetry.sdk", "pgvector", "re2",
    "sqlalchemy", "sqlite3", "sqlite_vec",
}  # fmt: skip

LOOK: Final = """
import json, sys
import fastmcp
before = set(sys.modules)
import {module}
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def loaded_on_top_of_fastmcp(module: str) -> set[str]:
    """Names of the modules that importing `module` loads, beyond those of FastMCP, in a fresh interpreter."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    answer = subprocess.run(
        [sys.executable, "-c", LOOK.format(module=module)],
        env=environment,
        capture_output=True,
        check=True,
        text=True,
    )
    return set(json.loads(answer.stdout))


@pytest.mark.parametrize("module", ["fastmcp_feedback", "fastmcp_feedback.instrumentation"])
def test_a_bare_import_loads_no_database_and_no_web_part(module: str) -> None:
    """Neither SQLAlchemy nor any driver nor any extra is loaded before it is used."""
    loaded = loaded_on_top_of_fastmcp(module)

    assert module in loaded
    assert loaded & HEAVY == set()
