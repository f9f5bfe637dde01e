"""Recipes of other package managers ask for what pyproject.toml asks for."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from autofinity import __version__

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
REQUIREMENT = re.compile(r"([a-z0-9-]+)>=([0-9.]+)")
NOT_IN_DEBIAN = {"pyarrow", "pyhwloc", "rustworkx", "scikit-learn"}
"""Or too old there. Commands name what is missing; debian/control names it."""


def least_versions(texts: list[str]) -> dict[str, str]:
    return dict(REQUIREMENT.findall("\n".join(texts)))


RUN = least_versions(PROJECT["project"]["dependencies"])
BUILD = least_versions(PROJECT["build-system"]["requires"])


def conda() -> Iterator[tuple[str, str]]:
    yield from re.findall(
        r"^    - ([a-z0-9-]+) >=([0-9.]+)$", (PACKAGING / "conda/recipe.yaml").read_text(), re.M
    )


def spack() -> Iterator[tuple[str, str]]:
    recipe = PACKAGING / "spack/spack_repo/autofinity/packages/py_autofinity/package.py"
    yield from re.findall(r'depends_on\("py-([a-z0-9-]+)@([0-9.]+):', recipe.read_text())


@pytest.mark.parametrize("recipe", [conda, spack])
def test_a_recipe_has_every_dependency_in_its_least_version(recipe: object) -> None:
    assert callable(recipe)
    asked = dict(recipe())
    assert len(RUN) >= 10 and len(BUILD) == 3
    assert {name: asked.get(name) for name in RUN | BUILD} == RUN | BUILD


def test_the_debian_package_has_every_dependency_that_debian_has() -> None:
    control = (PACKAGING / "debian/control").read_text()
    source, package = control.split("\n\n", 1)
    for name in RUN.keys() - NOT_IN_DEBIAN:
        assert re.search(rf"^ python3-{name}\b", package, re.M), name
    for name in BUILD:
        assert f" python3-{name}" in source
    for name in NOT_IN_DEBIAN:
        assert re.search(rf"^ .*\b{name}\b", package, re.M), name


def test_the_page_of_installing_says_linted_only_with_a_linter_that_runs() -> None:
    page = (ROOT / "docs/install.md").read_text()
    script = (ROOT / "scripts/check-packaging").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ") and "linted" in line]
    assert len(rows) == 4
    for row in rows:
        for claim in re.finditer(r"(not )?linted( \(([a-z-]+)\))?", row):
            linter = claim[3]
            assert claim[1] or (linter and re.search(rf"\b{linter}\b", script)), row
    (spack,) = (row for row in rows if row.startswith("| [Spack]"))
    assert "not by Spack 1.0" in spack and "not built" in spack
    (conda,) = (row for row in rows if row.startswith("| [conda]"))
    assert "not built" in conda


def test_every_recipe_is_of_this_version() -> None:
    for file, text in (
        ("conda/recipe.yaml", f"version: {__version__}\n"),
        ("debian/changelog", f"autofinity ({__version__}-"),
        ("spack/spack_repo/autofinity/packages/py_autofinity/package.py", f'"{__version__}"'),
    ):
        assert text in (PACKAGING / file).read_text(), file


def test_every_recipe_has_the_licence_of_the_wheel() -> None:
    licence = PROJECT["project"]["license"]
    for file in (
        "conda/recipe.yaml",
        "spack/spack_repo/autofinity/packages/py_autofinity/package.py",
    ):
        assert licence in (PACKAGING / file).read_text(), file
