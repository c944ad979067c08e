"""Names to choose from: the tools and versions that were recorded."""

from __future__ import annotations

from typing import Final

from .reader import Reader

MAX_NAMES: Final = 200
_NEWEST: Final = 5000


async def known_tools(reader: Reader, *, limit: int = MAX_NAMES) -> list[str]:
    """Names of recorded tools in their order. Jumps from name to name in the index, however many calls there are."""
    rows = await reader.rows(
        f"""
        WITH RECURSIVE found(tool) AS (
            SELECT MIN(tool) FROM {reader.calls}
            UNION ALL
            SELECT (SELECT MIN(c.tool) FROM {reader.calls} c WHERE c.tool > found.tool) FROM found WHERE found.tool IS NOT NULL
        )
        SELECT tool FROM found WHERE tool IS NOT NULL LIMIT :limit
        """,  # noqa: S608 - names of ours, values bound
        {"limit": limit},
    )
    return [row["tool"] for row in rows]


async def known_versions(reader: Reader) -> list[str]:
    """Server versions of the newest calls, the newest first."""
    rows = await reader.rows(
        f"SELECT server_version, MAX(started_at) AS last_seen FROM (SELECT server_version, started_at FROM {reader.calls} "  # noqa: S608 - see above
        "ORDER BY started_at DESC LIMIT :newest) AS newest "
        "WHERE server_version IS NOT NULL GROUP BY server_version ORDER BY last_seen DESC",
        {"newest": _NEWEST},
    )
    return [row["server_version"] for row in rows]
