"""C programs of tests, and the launcher that is tested."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import autofinity
from autofinity.mechanisms.lists import launcher_header

ROOT = Path(__file__).resolve().parents[2]


def compiled(sources: Sequence[Path], out: Path, *flags: str) -> Path:
    """The program `out`. Skips the test where there is no compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler: expected cc, gcc or clang")
    subprocess.run([compiler, "-O1", "-o", out, *flags, *sources, "-lpthread"], check=True)
    return out


def launcher_of(folder: Path) -> Path:
    """The installed launcher when the installed package is tested, else one built into `folder`."""
    installed = Path(autofinity.__file__).resolve().parents[1] != ROOT
    if installed and "LAUNCHER_CFLAGS" not in os.environ:
        return Path(sys.executable).parent / "autofinity"
    return compiled_launcher(folder, ROOT)


def compiled_launcher(folder: Path, tree: Path | None) -> Path:
    """A launcher in `folder` that takes `tree` for its source tree; None: an installed one."""
    sources = sorted((ROOT / "autofinity" / "native" / "launcher").glob("*.c"))
    # `make check-native` adds sanitizers.
    flags = ["-std=c11", "-D_GNU_SOURCE", *os.environ.get("LAUNCHER_CFLAGS", "").split()]
    (folder / "mechanism_lists.h").write_text(launcher_header())
    flags.append(f"-I{folder}")
    if tree is not None:
        flags.append(f'-DAUTOFINITY_SOURCE_DIR="{tree}"')
    return compiled(sources, folder / "autofinity", *flags)
