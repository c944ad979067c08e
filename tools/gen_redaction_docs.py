"""Write `docs/redaction.md` from the redaction rules."""

# ruff: noqa: INP001 - a script

from pathlib import Path

from fastmcp_feedback.shaping.redact.docs import render

PAGE = Path(__file__).resolve().parent.parent / "docs" / "redaction.md"

if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
