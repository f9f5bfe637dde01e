"""Tests of the site of `make docs`: `make test-docs` builds the site and runs them.

Without a request they skip, since the site that lies in build/docs may be an old one.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SITE = Path(__file__).resolve().parents[2] / "build/docs/html"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("AUTOFINITY_SITE") == "1":
        return
    here = Path(__file__).parent
    skip = pytest.mark.skip(reason="tests of the documents' site and tutorial: `make test-docs`")
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def pages() -> list[Path]:
    """Every page of the built site."""
    found = sorted(SITE.rglob("*.html"))
    assert SITE / "docs/index.html" in found, f"{SITE} is not built; `make docs` builds it"
    return found
