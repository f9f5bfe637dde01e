"""Every dependency has its price in docs/install.md."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from script_module import script_module

ROOT = Path(__file__).resolve().parents[2]
costs = script_module("studies/install_costs.py")


def test_every_dependency_is_priced_in_the_document_on_installing() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [project["optional-dependencies"][extra] for extra in costs.EXTRAS]
    texts = [*project["dependencies"], *(text for extra in extras for text in extra)]
    names = {re.split(r"[<>=\[]", text)[0] for text in texts}
    assert names == set(costs.USES)
    rows = re.findall(r"^\| ([a-z0-9-]+)(?: \(\w+\))? \| [0-9.]+ \|", document(), re.MULTILINE)
    assert {*rows} == {*names, "autofinity"}


def document() -> str:
    return (ROOT / "docs/install.md").read_text()


def asked(name: str, *extras: str) -> list[costs.Asked]:
    return [costs.Asked(name, frozenset(extras))]


def test_every_extra_but_that_of_developers_is_priced() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {*costs.EXTRAS} == project["optional-dependencies"].keys() - {"dev"}
    rows = re.findall(r"^\| \*\*`\[(\w+)\]` adds\*\* \| \| [0-9.]+ \|", document(), re.MULTILINE)
    assert rows == [*costs.EXTRAS]


def test_what_a_dependency_alone_needs_is_told_from_what_others_need_too() -> None:
    assert "numpy" in costs.closure(asked("pandas")) & costs.closure(asked("scikit-learn"))
    assert {"scikit-learn", "scipy", "joblib"} <= costs.closure(asked("scikit-learn"))
    assert "scipy" not in costs.closure(asked("pandas"))
    assert costs.size_bytes("scipy") > costs.size_bytes("click") > 0


def test_extras_of_a_dependency_count_as_its_own() -> None:
    assert "psycopg-binary" in costs.closure(asked("psycopg", "binary"))
    assert "psycopg-binary" not in costs.closure(asked("psycopg"))
    assert "psycopg-binary" in costs.closure(asked("autofinity", "site"))
    assert {"dask", "tornado"} <= costs.closure(asked("autofinity", "cluster"))
    assert "dask" not in costs.closure(asked("autofinity"))
