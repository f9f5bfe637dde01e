"""Every package in a prefix of its own, as Spack installs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from login_node import LoginNode


def test_dependencies_are_found_by_a_pth_file_beside_the_package(
    wheel: Path, login_node: LoginNode, tmp_path: Path
) -> None:
    """`packaging/spack` writes such a file, and names the interpreter."""
    version = f"python3.{sys.version_info.minor}"
    dependencies = login_node.venv / "lib" / version / "site-packages"
    bare = tmp_path / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "--python", bare / "bin/python", "install", "-q"),
            *("--no-deps", "--prefix", tmp_path / "prefix", wheel),
        ],
        check=True,
    )
    own = tmp_path / "prefix/lib" / version / "site-packages"
    (own / "dependencies.pth").write_text(f"{dependencies}\n")
    (dependencies / "autofinity").rename(dependencies / "autofinity-elsewhere")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/autofinity").symlink_to(tmp_path / "prefix/bin/autofinity")  # a view
    try:
        done = subprocess.run(
            [tmp_path / "bin/autofinity", "evaluate", "--machine", "xeon-e5-2650"],
            env=login_node.environment
            | {"AUTOFINITY_PYTHON": str(bare / "bin/python"), "PYTHONPATH": os.devnull},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
    finally:
        (dependencies / "autofinity-elsewhere").rename(dependencies / "autofinity")
    assert done.returncode == 0, done.stderr
    assert "interesting cases won" in done.stdout
