"""Runs the host's hooks so that they can neither break nor hold up a call."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any

from .. import contain

SLOW_SYNC_HOOK_S = 0.05


class HookEnded(Exception):
    """A hook tried to end the process or its task; the text names the exception's class."""


async def run_hook(name: str, hook: Callable[..., Any], args: tuple[Any, ...], timeout_s: float) -> dict[str, Any]:
    """The hook's dict, or an empty one when it fails, is too slow (async) or answers something else.

    A sync hook cannot be stopped and is trusted; one that takes more than 50 ms is warned about. Cancellation of the
    calling task passes through.
    """
    answer: Any = None
    began = time.perf_counter()
    with contain.contain(name, "the call is recorded without its answer"):
        answer = _called(hook, args)
        if inspect.isawaitable(answer):
            answer = await _bounded(name, answer, timeout_s)
        elif time.perf_counter() - began > SLOW_SYNC_HOOK_S:
            contain.warn_once(f"slow {name}", "%s took more than 50 ms and holds up the server: make it async", name)
    if answer is None:
        return {}
    if not isinstance(answer, dict):
        contain.warn_once(f"odd {name}", "%s returned %s instead of a dict: ignored", name, type(answer).__name__)
        return {}
    return answer


def _called(hook: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What the hook returns. An exit or a cancellation that it raises itself is its failure, not the server's."""
    try:
        return hook(*args)
    except Exception:
        raise
    except BaseException as exc:
        raise HookEnded(type(exc).__name__) from exc


async def _guarded(awaitable: Any) -> Any:
    try:
        return await awaitable
    except (Exception, asyncio.CancelledError):
        raise
    except BaseException as exc:
        raise HookEnded(type(exc).__name__) from exc


async def _bounded(name: str, awaitable: Any, timeout_s: float) -> Any:
    """The awaitable's value, or None after `timeout_s`; one that ignores its cancellation is left behind."""
    task = asyncio.ensure_future(_guarded(awaitable))
    try:
        await asyncio.wait((task,), timeout=timeout_s)
    except BaseException:
        task.cancel()
        raise
    if task.done():
        return None if task.cancelled() else task.result()
    task.cancel()
    task.add_done_callback(_consume_failure)
    contain.warn_once(f"late {name}", "%s took more than %g s (hook_timeout): skipped for this call", name, timeout_s)
    return None


def _consume_failure(task: asyncio.Future[Any]) -> None:
    if not task.cancelled():
        task.exception()
