from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from fastmcp import Client, FastMCP

from fastmcp_feedback import instrument, mount_dashboard
from fastmcp_feedback.instrumentation import DatabaseSink
from support.browser import page_of
from support.devtools import DevTools
from support.servers import http_server

TOKEN = "a-token-that-nobody-guesses"

pytestmark = pytest.mark.timeout(120)


async def test_beside_a_running_server_the_pages_follow_what_happens(browser: DevTools, tmp_path: Path) -> None:
    """Signed in below the mount's path, every link stays there, and live numbers show a call made meanwhile."""
    app: FastMCP[None] = FastMCP("studio")

    @app.tool
    def draw(scene: str) -> str:
        return scene

    recorder = instrument(app, [DatabaseSink(f"sqlite:///{tmp_path}/calls.db", create_tables=True)])
    mount_dashboard(app, "/insight", auth=TOKEN)

    async with http_server(app) as url, Client(url) as client:

        async def call() -> None:
            await client.call_tool("draw", {"scene": "harbour"})
            await recorder.flush()

        def called() -> None:
            asyncio.run_coroutine_threadsafe(call(), loop).result(30)

        def look() -> None:
            with page_of(browser, url.removesuffix("/mcp")) as page:
                page.open("/insight/login")
                page.click("input")
                page.write(TOKEN)
                with page.loading():
                    page.press("Enter")
                page.trouble.clear()  # the form itself comes with 404, like everything that nobody may know of
                assert page.path == "/insight/"
                assert page.text("td[data-label=Calls]") == "1"
                assert "DatabaseSink" in page.text("td[data-label=Sink]")

                page.press("r")
                called()
                page.wait("document.querySelector('td[data-label=Calls]').innerText === '2'")
                assert page.run("Array.from(document.links).every((one) => new URL(one.href).pathname.startsWith('/insight/'))")
                with page.loading():
                    page.click("td[data-label=Tool] a")
                assert page.path.startswith("/insight/tool?")
                assert page.trouble == []

        loop = asyncio.get_running_loop()
        await call()
        await asyncio.to_thread(look)
