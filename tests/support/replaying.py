"""A server with three planted bugs, as a module that can be mended, and databases of its recorded calls."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from support.paths import ROOT

BUGGY: Final = '''
"""A small shop with three bugs. Started as a script it serves stdio, with a port it serves HTTP."""

import os
import sys

from fastmcp import FastMCP

app = FastMCP("shop")
STOCK = {"tea": 3, "coffee": 0}


@app.tool(annotations={"readOnlyHint": True})
def in_stock(article: str) -> int:
    """How many there are."""
    return STOCK[article]


@app.tool
def total(prices: list[float], discount: float | None = None) -> float:
    """The sum, less a discount in percent."""
    return sum(prices) * (1 - discount / 100)


@app.tool
def order(article: str, count: int, api_key: str = "") -> dict:
    """Order some of an article."""
    if count > STOCK.get(article, 0) - 1:
        return {"status": "failed", "error": f"only {STOCK.get(article, 0)} left"}
    return {"status": "done"}


if __name__ == "__main__":
    from fastmcp_feedback.instrumentation import DatabaseSink, instrument

    instrument(app, [DatabaseSink(os.environ["SHOP_DB"])], mode=os.environ.get("SHOP_MODE", "full"))
    if len(sys.argv) > 1:
        app.run("http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
    else:
        app.run(show_banner=False)
'''

MENDED: Final = (
    BUGGY.replace("return STOCK[article]", "return STOCK.get(article, 0)")
    .replace("(1 - discount / 100)", "(1 - (discount or 0) / 100)")
    .replace("STOCK.get(article, 0) - 1:", "STOCK.get(article, 0):")
)

CALLS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("in_stock", {"article": "tea"}),
    ("in_stock", {"article": "cocoa"}),
    ("in_stock", {"article": "cocoa"}),
    ("total", {"prices": [1.5, 2.5], "discount": 10}),
    ("total", {"prices": [1.5, 2.5]}),
    ("order", {"article": "tea", "count": 3, "api_key": "sk-test-4f9a8b7c6d5e4f3a2b1c"}),
    ("order", {"article": "tea", "count": 1}),
)
"""What its users do: each bug is met, and each tool also works once."""


async def drive(client: Client[Any]) -> None:
    """Make the calls; failures do not matter."""
    async with client:
        for tool, args in CALLS:
            await client.call_tool(tool, args, raise_on_error=False)


def environment(**more: str) -> dict[str, str]:
    """This process's environment, with the package on the path and some more."""
    return {**os.environ, "PYTHONPATH": str(ROOT / "src"), "FASTMCP_LOG_LEVEL": "CRITICAL", **more}


def recorded_shop(folder: Path, mode: str = "full") -> str:
    """Write the buggy server into a folder, drive it over stdio, and give the database's file."""
    script = folder / "shop.py"
    script.write_text(BUGGY, encoding="utf-8")
    database = folder / "calls.db"
    env = environment(SHOP_DB=f"sqlite:///{database}", SHOP_MODE=mode)
    asyncio.run(drive(Client(StdioTransport(sys.executable, [str(script)], env=env, keep_alive=False))))
    return str(database)


def command(*arguments: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run our command line in a folder."""
    return subprocess.run(
        [sys.executable, "-m", "fastmcp_feedback.cli", *arguments],
        cwd=cwd, env=environment(), capture_output=True, text=True, check=False, timeout=120,
        **{"stdin": subprocess.DEVNULL, **options},
    )  # fmt: skip
