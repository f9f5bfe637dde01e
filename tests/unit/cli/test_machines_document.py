"""docs/machines.md says what the files and the reader say."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path

import pytest

from autofinity.resources import shipped
from autofinity.sim.preset import preset_names
from autofinity.sim.spec import CoreSpec, DirectorySpec, EnergySpec, PrefetchSpec, SystemSpec

DOCUMENT = Path(__file__).parents[3] / "docs" / "machines.md"
SAME_NAMES = (CoreSpec, DirectorySpec, EnergySpec, PrefetchSpec, SystemSpec)
"""Tables whose keys are called as the fields of the specification."""


@pytest.fixture(scope="module")
def text() -> str:
    return DOCUMENT.read_text(encoding="utf-8")


def keys_of(table: object) -> set[str]:
    if isinstance(table, list):
        return set().union(*map(keys_of, table)) if table else set()
    if not isinstance(table, dict):
        return set()
    inner = set(table)
    return inner.union(*(keys_of(value) for value in table.values()))


def test_every_key_is_explained(text: str) -> None:
    files = [shipped("data", "machines", f"{name}.toml") for name in preset_names()]
    used = set().union(*(keys_of(tomllib.loads(file.read_text())) for file in files))
    used |= {field.name for spec in SAME_NAMES for field in dataclasses.fields(spec)}
    table = text.partition("## The keys")[2]
    explained = set(re.findall(r"\w+", " ".join(re.findall(r"`[^`]*`", table))))
    assert used - explained == set()
