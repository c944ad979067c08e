"""Takes pictures of the dashboard.

    .venv/bin/python tools/screenshots.py            docs/screenshots: every page light, some dark, one on a phone
    .venv/bin/python tools/screenshots.py FOLDER     every page light, dark and on a phone, to look at after a change

Needs Chromium. The calls are made up (tests/support/busy_studio.py).
"""

# ruff: noqa: INP001, T201 - a script

from __future__ import annotations

import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from support.browser import page_of  # noqa: E402 - from the folder added above
from support.devtools import DevTools, find_chromium  # noqa: E402 - see above
from support.served import Site, served_studio  # noqa: E402 - see above

CALLS: Final = 6000
WIDE_HEIGHT: Final = 860
PHONE_HEIGHT: Final = 844
DARK: Final = ("overview", "tool")
PHONE: Final = ("overview",)


def main() -> int:
    """Take them all."""
    everything = len(sys.argv) > 1
    folder = Path(sys.argv[1]) if everything else ROOT / "docs" / "screenshots"
    path = find_chromium()
    if path is None:
        print("no Chromium was found: apt-get install chromium", file=sys.stderr)
        return 1
    folder.mkdir(parents=True, exist_ok=True)
    tools = DevTools(path)
    try:
        with tempfile.TemporaryDirectory(prefix="studio-") as place, served_studio(Path(place), datetime.now(UTC), calls=CALLS) as site:
            for name, whole in site.pages().items():
                address = whole.replace("since=", "since=7d")
                take(tools, site, address, folder / f"{name}.png")
                if everything or name in DARK:
                    take(tools, site, address, folder / f"{name}-dark.png", dark=True)
                if everything or name in PHONE:
                    take(tools, site, address, folder / f"{name}-phone.png", phone=True)
    finally:
        tools.close()
    return 0


def take(tools: DevTools, site: Site, address: str, file: Path, *, dark: bool = False, phone: bool = False) -> None:
    """One picture, and a word when the page complained."""
    with page_of(tools, site.origin, dark=dark, phone=phone, zone="UTC") as page:
        page.open(address)
        file.write_bytes(page.picture(PHONE_HEIGHT if phone else WIDE_HEIGHT))
        print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB", *page.trouble, sep="\n  ")


if __name__ == "__main__":
    raise SystemExit(main())
