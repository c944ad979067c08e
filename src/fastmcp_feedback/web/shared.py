"""One answer for all who ask the same at the same time: many open dashboards cost the database no more than one."""

from __future__ import annotations

import asyncio
from typing import Any

from .routes import Page
from .views import View, Visit


class Shared:
    """Views that are being made. Nothing is kept once it is there, so what is shown is never older than the question."""

    def __init__(self) -> None:
        self._making: dict[Any, asyncio.Task[View]] = {}

    async def ask(self, page: Page, visit: Visit) -> View:
        """The page's view; that of somebody who has just asked for the same, if it is still being made."""
        key = (
            id(asyncio.get_running_loop()), page.path, tuple(sorted(visit.path.items())), tuple(sorted(visit.asked.words.items())),
            tuple(sorted(visit.asked.own.items())), visit.grant.payloads,
        )  # fmt: skip
        task = self._making.get(key)
        if task is None:
            task = self._making[key] = asyncio.create_task(page.view(visit))
            task.add_done_callback(lambda done: self._drop(key, done))
        # Whoever asked first may go away before the others.
        return await asyncio.shield(task)

    def forget(self) -> None:
        """Something was changed: whoever asks now must see it."""
        self._making.clear()

    def _drop(self, key: Any, task: asyncio.Task[View]) -> None:
        if self._making.get(key) is task:
            del self._making[key]
        if not task.cancelled():
            task.exception()  # seen, also when everybody who asked has gone
