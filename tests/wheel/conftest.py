"""Tests of what is given to others: `make test-wheel` builds it into dist, and runs them.

Without a request they skip, since building takes minutes, and installing fetches all dependencies.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from login_node import COMPILERS, TOOLS, LoginNode


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if "AUTOFINITY_WHEELS" in os.environ:
        return
    here = Path(__file__).parent
    skip = pytest.mark.skip(reason="tests of the wheel and the sdist: `make test-wheel`")
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(skip)


def _only(pattern: str) -> Path:
    folder = Path(os.environ["AUTOFINITY_WHEELS"]).absolute()
    found = sorted(folder.glob(pattern))
    assert len(found) == 1, f"{folder} has {len(found)} files {pattern}; `make wheel` makes one"
    return found[0]


@pytest.fixture(scope="session")
def wheel() -> Path:
    """The wheel of dist for this Python and machine."""
    return _only(f"autofinity-*-cp3{sys.version_info.minor}-manylinux_*_{os.uname().machine}.whl")


@pytest.fixture(scope="session")
def sdist() -> Path:
    return _only("autofinity-*.tar.gz")


@pytest.fixture(scope="session")
def login_node(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> LoginNode:
    """The wheel, installed by pip with its dependencies and nothing else."""
    folder = tmp_path_factory.mktemp("login")
    (folder / "bin").mkdir()
    (folder / "elsewhere").mkdir()
    (folder / "state").mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        assert found is not None, name
        (folder / "bin" / name).symlink_to(found)
    environment = {
        name: value
        for name, value in os.environ.items()
        if name in ("HOME", "LANG", "TMPDIR") or name.startswith(("PIP_", "SSL_"))
    }
    environment |= {"PATH": str(folder / "bin"), "XDG_STATE_HOME": str(folder / "state")}
    assert not any(shutil.which(name, path=environment["PATH"]) for name in COMPILERS)
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    node = LoginNode(folder / "venv", environment, folder / "elsewhere")
    node.run("python", "-m", "pip", "install", "-q", "--only-binary", ":all:", str(wheel))
    return node
