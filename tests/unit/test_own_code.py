"""Digests of this installation's code: what is kept under them is stale after an edit."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autofinity import own_code
from autofinity.own_code import digest_of_code, digest_of_core
from autofinity.workflow.compare import DECIDES

UNDECIDED = (
    "linux",
    "store",
    "checked_file",
    "foreign_text",
    "free_memory",
    "given_file",
    "new_folder",
    "own_code",
    "private_file",
    "resources",
    "whole_file",
    "_core",
    "__init__",
)
"""Loaded by a comparison: how files are read, found and kept; what runs on no machine of Linux;
what fits into memory. The core has a digest of its own."""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "sim").mkdir()
    (tmp_path / "sim" / "a.py").write_text("one = 1\n")
    (tmp_path / "ports.py").write_text("two = 2\n")
    monkeypatch.setattr(own_code, "_PACKAGE", tmp_path)
    digest_of_code.cache_clear()
    yield tmp_path
    digest_of_code.cache_clear()


@pytest.mark.parametrize("edited", ["sim/a.py", "ports.py", "sim/new.py"])
def test_an_edit_or_a_new_file_gives_another_digest(package: Path, edited: str) -> None:
    before = digest_of_code("sim", "ports.py")
    assert digest_of_code("sim", "ports.py") == before != digest_of_core()
    (package / edited).write_text("three = 3\n")
    digest_of_code.cache_clear()
    assert digest_of_code("sim", "ports.py") != before


def test_a_file_elsewhere_gives_the_same_digest(package: Path) -> None:
    before = digest_of_code("sim")
    (package / "ports.py").write_text("three = 3\n")
    digest_of_code.cache_clear()
    assert digest_of_code("sim") == before


def test_a_part_without_source_is_refused(package: Path) -> None:
    with pytest.raises(ValueError, match="nowhere has no source"):
        digest_of_code("nowhere")


def test_all_code_that_a_comparison_loads_decides_what_its_runs_are_kept_under() -> None:
    loaded = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, autofinity.evaluation.comparison, autofinity.sim.machine\n"
            "print(*(m for m in sys.modules if m.startswith('autofinity.')))",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    known = {*DECIDES, *UNDECIDED}
    assert "mechanisms" in known
    for module in loaded:
        parts = module.split(".")[1:]
        path = "/".join(parts) + ".py"
        assert (
            parts[0] in known or path in known or parts == ["evaluation"] or path == "ports.py"
        ), f"{module} is neither in DECIDES nor known to decide nothing"


@pytest.mark.parametrize("edited", ["a.so", "lib/core/b.so", "lib/core/glibc-hwcaps/v4/b.so"])
def test_an_edit_of_any_library_gives_the_core_another_digest(
    edited: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / edited).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "a.so").write_bytes(b"extension")
    (tmp_path / edited).write_bytes(b"one")
    monkeypatch.setattr(own_code._core, "__file__", str(tmp_path / "a.so"))
    digest_of_core.cache_clear()
    before = digest_of_core()
    (tmp_path / edited).write_bytes(b"two")
    assert digest_of_core() == before
    digest_of_core.cache_clear()
    assert digest_of_core() != before
    digest_of_core.cache_clear()
