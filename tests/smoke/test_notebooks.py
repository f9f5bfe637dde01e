"""Every notebook runs from its first cell to its last, draws, and is kept without outputs."""

from __future__ import annotations

from pathlib import Path

import pytest

import autofinity

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_there_is_a_notebook_for_each_group_of_figures() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "affinities",
        "coverage",
        "evaluation",
        "learning",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_begins_with_the_face(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells
    first = next(cell.source for cell in cells if cell.cell_type == "code")
    assert first.startswith("import autofinity as af\n")
    assert "af.observations(machine)" in first


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_is_kept_without_outputs(
    path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    if Path(str(autofinity.__file__)).parents[1] == ROOT:  # these tests are of the source tree
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    outputs = [output for cell in code for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
