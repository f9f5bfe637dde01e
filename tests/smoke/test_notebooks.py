"""Every notebook runs from its first cell to its last, draws, and is kept without outputs."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import Any

import pytest

import autofinity
from autofinity.capture.compilers import Compilers, skip_reason
from autofinity.resources import shipped
from autofinity.trace.manifest import load_suite

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
BESIDE_OURS = {"matplotlib", "numpy", "pandas", "pathlib", "sklearn", "tempfile"}
CAPTURED = {
    "2-capture-and-replay": "prodcons",
    "4-judge-a-policy": "mergesort",
    "5-sharing-and-mapping": "prodcons",
}
"""A program that can be captured where the notebook's own can."""


def code_of(path: Path) -> list[str]:
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


def test_five_notebooks_teach_one_after_the_other_and_the_page_on_python_lists_them() -> None:
    assert [path.name[:2] for path in NOTEBOOKS] == ["1-", "2-", "3-", "4-", "5-"]
    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    assert all(page.count(f"`notebooks/{path.name}`") == 1 for path in NOTEBOOKS)
    assert page.count(".ipynb") == len(NOTEBOOKS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_needs_no_more_than_the_stable_names(path: Path) -> None:
    code = ast.parse("\n".join(code_of(path)))
    imported = set()
    for node in ast.walk(code):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
            assert all(alias.name != "autofinity" or alias.asname == "af" for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            imported.add(str(node.module).split(".")[0])
            assert not str(node.module).startswith("autofinity")
    assert "autofinity" in imported and imported <= {"autofinity", *BESIDE_OURS}
    assert ".inside" not in ast.unparse(code)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_is_kept_without_outputs(
    path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    if path.stem in CAPTURED:
        suite = load_suite(shipped("training", "suite.toml"))
        if why := skip_reason(suite.programs[CAPTURED[path.stem]], Compilers.find(os.environ)):
            pytest.skip(f"programs cannot be captured: {why}")
    for variable in ("IPYTHONDIR", "TMPDIR", "XDG_CACHE_HOME", "MPLCONFIGDIR"):
        monkeypatch.setenv(variable, str(tmp_path))
    if Path(str(autofinity.__file__)).parents[1] == ROOT:  # these tests are of the source tree
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
    nbclient.NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    shown = [output.get("data", {}) for cell in code for output in cell.outputs]
    assert any("image/png" in each for each in shown), "a picture of figures"
    assert any(_drawn(each) for each in shown), "an object that shows itself"
    left = [found for found in tmp_path.iterdir() if found.name.startswith("autofinity-")]
    assert not left, "what a notebook writes goes with it"


def _drawn(data: Any) -> bool:
    return "<svg" in data.get("text/html", "") or "<table" in data.get("text/html", "")
