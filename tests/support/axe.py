"""axe-core, the accessibility rules, run in a page of a real browser."""

from __future__ import annotations

import importlib.metadata
import json
from typing import Any, Final

from support.browser import Page

_PACKAGE: Final = "axe-playwright-python"  # brings the file of axe-core's own package; nothing else of it is used
_ALL: Final = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
_LOOKS: Final = {"type": "rule", "values": ["color-contrast", "link-in-text-block", "target-size"]}


def axe_source() -> str | None:
    """The script of axe-core, or None where `make` has not installed it."""
    try:
        files = importlib.metadata.files(_PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = next((file for file in files if file.name == "axe.min.js"), None)
    return None if found is None else found.read_text("utf-8")


def findings(page: Page, source: str, *, looks_only: bool = False) -> list[str]:
    """What is serious or critical, as `rule: element`; the script comes through DevTools, so the page's policy stays as it is.

    `looks_only`: just the rules that colours and sizes can break.
    """
    page.run(f"globalThis.axe || (() => {{ {source} }})(); true")
    options = {"runOnly": _LOOKS if looks_only else _ALL, "resultTypes": ["violations"]}
    found: list[dict[str, Any]] = page.run(f"axe.run(document, {json.dumps(options)}).then((answer) => answer.violations)")
    return [
        f"{one['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for one in found
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"]
    ]
