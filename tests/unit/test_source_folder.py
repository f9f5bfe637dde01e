"""At the root of a clone `import autofinity` is the installed one, or says what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import autofinity

PACKAGE = Path(str(autofinity.__file__)).parent
FIRST = "import autofinity as af; print(af.__file__); "


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The sources that an import of the package reads first, without a core."""
    (tmp_path / "autofinity/_core").mkdir(parents=True)  # of stubs only, as in the sources
    for name in ("__init__.py", "source_folder.py"):
        (tmp_path / "autofinity" / name).write_text((PACKAGE / name).read_text())
    return tmp_path


def said(clone: Path, code: str, *options: str, **env: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    return subprocess.run(
        [sys.executable, *options, "-c", code],
        cwd=clone,
        env=plain | env,
        capture_output=True,
        text=True,
    )


def test_the_installed_package_stands_in_for_sources_that_nobody_asked_for(clone: Path) -> None:
    done = said(clone, FIRST + "print(len(af.get_affinity('opteron-6164he', 8).cpus))")
    assert done.stdout.splitlines() == [str(PACKAGE / "__init__.py"), "8"], done.stderr


def test_modules_of_the_installed_package_are_imported_too(clone: Path) -> None:
    code = "from autofinity.affinity.hints import get_affinity as a; print(a.__code__.co_filename)"
    assert said(clone, code).stdout.strip() == str(PACKAGE / "affinity/hints.py")


def test_the_command_line_runs_there(clone: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "autofinity", "hints", "-t", "2", "-m", "opteron-6164he", "--json"],
        cwd=clone,
        env={name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_sources_that_are_asked_for_are_taken_and_name_the_missing_core(clone: Path) -> None:
    for way in (str(clone), f"/nowhere{os.pathsep}{clone}/"):
        done = said(clone, FIRST + "af.machine", PYTHONPATH=way)
        assert done.stdout.strip() == str(clone / "autofinity/__init__.py")
        last = done.stderr.splitlines()[-1]
        assert last.startswith("ImportError: ") and "PYTHONPATH names them" in last
        assert "pip install ." in last and "make dev" in last


@pytest.mark.parametrize(
    "use", ["af.machine", "from autofinity import machine", "import autofinity._core.sim"]
)
def test_where_nothing_is_installed_it_says_what_to_do(clone: Path, use: str) -> None:
    done = said(clone, FIRST + use, "-S", PYTHONPATH="")
    assert done.stdout.strip() == str(clone / "autofinity/__init__.py")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: ") and "without its native core" in last
    assert "no autofinity is installed" in last


def test_what_needs_no_core_is_imported_from_sources_all_the_same(clone: Path) -> None:
    (clone / "autofinity/plain.py").write_text("WORD = 'from the sources'")
    code = (
        "from autofinity.plain import WORD; import autofinity; print(WORD, autofinity.__version__)"
    )
    done = said(clone, code, PYTHONPATH=str(clone))
    assert done.stdout.strip() == f"from the sources {autofinity.__version__}"
    done = said(clone, "import autofinity; autofinity.nothing", "-S", PYTHONPATH="")
    assert done.stderr.splitlines()[-1].startswith("AttributeError: ")
