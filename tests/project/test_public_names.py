"""What hosts may rely on is a short list, and it is the one that is committed."""

from __future__ import annotations

import importlib
from typing import Final

import pytest

from support.paths import PACKAGE
from support.public import PUBLIC_NAMES

# The only modules that hosts import; all others are private.
PUBLIC_MODULES: Final = ("fastmcp_feedback", "fastmcp_feedback.instrumentation", "fastmcp_feedback.testing")


def present_public_modules() -> set[str]:
    """The public modules that the package holds."""
    found = set()
    for module in PUBLIC_MODULES:
        target = PACKAGE.joinpath(*module.split(".")[1:])
        if (target / "__init__.py").is_file() or target.with_suffix(".py").is_file():
            found.add(module)
    return found


def test_the_committed_list_names_every_public_module() -> None:
    """No public module escapes the list."""
    assert set(PUBLIC_NAMES) == present_public_modules()


@pytest.mark.parametrize("module", sorted(PUBLIC_NAMES))
def test_public_names_equal_the_committed_list(module: str) -> None:
    """`__all__` holds exactly the committed names."""
    assert sorted(importlib.import_module(module).__all__) == sorted(PUBLIC_NAMES[module])


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, names in PUBLIC_NAMES.items() for name in names])
def test_a_public_name_can_be_had(module: str, name: str) -> None:
    """Also a name that loads late is there when it is asked for."""
    assert getattr(importlib.import_module(module), name) is not None


@pytest.mark.parametrize("module", sorted(PUBLIC_NAMES))
def test_dir_shows_the_public_names(module: str) -> None:
    """Completion in an editor finds names that load late."""
    assert set(PUBLIC_NAMES[module]) <= set(dir(importlib.import_module(module)))
