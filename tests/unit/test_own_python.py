"""Our Python runs the copy of the package that started it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from autofinity import own_python

SAYS = "import statistics\nprint('copy of', __file__)\n"


@pytest.mark.parametrize("starts", ["command", "script"])
def test_a_copy_that_another_python_imports_runs_its_own_modules(
    tmp_path: Path, starts: str
) -> None:
    """A copy found by PYTHONPATH, while the package is installed, too."""
    copy = tmp_path / "elsewhere" / "autofinity"
    copy.mkdir(parents=True)
    (copy / "__init__.py").touch()
    (copy / "own_python.py").write_text(Path(own_python.__file__).read_text("utf-8"), "utf-8")
    (copy / "telling.py").write_text(SAYS, "utf-8")
    (copy.parent / "statistics.py").write_text("raise ImportError('not that of Python')", "utf-8")
    asks = {
        "command": "import os, subprocess; from autofinity import own_python as own; "
        "subprocess.run(own.own_python('autofinity.telling'), "
        "env=own.own_environment(os.environ), check=True)",
        "script": "import subprocess; from autofinity import own_python as own; "
        "subprocess.run(['sh', '-c', own.own_python_script('autofinity.telling')], check=True)",
    }
    found = subprocess.run(
        [sys.executable, "-c", asks[starts]],
        env={"PYTHONPATH": str(copy.parent), "PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout == f"copy of {copy / 'telling.py'}\n"
