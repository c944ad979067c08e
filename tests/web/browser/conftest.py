"""One browser and one dashboard over made-up calls for all tests here, both real processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from support.browser import Page
from support.devtools import DevTools, find_chromium
from support.served import Site, served_studio

CALLS = 300


@pytest.fixture(scope="session")
def browser() -> Iterator[DevTools]:
    """The browser; tests are skipped where there is none, and fail where it has to be."""
    path = find_chromium()
    if path is None:
        if os.environ.get("CI") == "true":
            pytest.fail("there is no Chromium: .ci/run has to install the package chromium")
        pytest.skip("no Chromium was found")
    tools = DevTools(path)
    try:
        yield tools
    finally:
        tools.close()


@pytest.fixture(scope="session")
def site(browser: DevTools, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A dashboard over two made-up weeks."""
    with served_studio(tmp_path_factory.mktemp("studio"), datetime.now(UTC), calls=CALLS) as found:
        yield found


@pytest.fixture
def page(browser: DevTools, site: Site) -> Iterator[Page]:
    """A page on a wide screen that has to stay without trouble."""
    page = Page(browser, site.origin)
    try:
        yield page
        assert page.trouble == []
    finally:
        page.close()
