"""How much of planted flailing is found among a server's ordinary calls, and how much of what is found was planted."""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from fastmcp_feedback.query.flailing import FlailReport, find_flailing
from fastmcp_feedback.query.reader import open_reader
from support.paths import ROOT

CALLS = 20_000


@cache
def generator() -> ModuleType:
    """The benchmark's generator, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("bench_generate", ROOT / "bench" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["full", "meta"])
def test_planted_flailing_is_found_and_little_else(tmp_path: Path, mode: str) -> None:
    """Precision and recall are at least 0.9, with recorded arguments and without."""
    url = f"sqlite:///{tmp_path}/calls.db"

    async def look() -> FlailReport:
        async with open_reader(url) as reader:
            return await find_flailing(reader, limit=10_000, now=datetime(2027, 1, 1, tzinfo=UTC))

    world = asyncio.run(generator().fill(url, CALLS, mode=mode, seed=11))
    found = [flail for flail in asyncio.run(look()).findings if flail.kind != "ends_in_failure"]
    hits = [cases for flail in found if (cases := {world.planted[call.id] for call in flail.calls if call.id in world.planted})]

    assert len(world.kinds) > 50
    assert len(hits) / len(found) >= 0.9
    assert len(set().union(*hits)) / len(world.kinds) >= 0.9


def test_the_same_seed_makes_the_same_calls() -> None:
    """Another seed makes others."""

    def ids(seed: int) -> list[str]:
        made = generator()
        return [call.id for talk in made.conversations(500, made.World(), seed=seed) for call in talk]

    assert ids(1) == ids(1)
    assert set(ids(1)) & set(ids(2)) == set()
