"""Path of the native launcher, which alone does the work of `autofinity run`."""

from __future__ import annotations

import sys
from pathlib import Path

from autofinity.model.errors import LinuxError

_ELF = b"\x7fELF"


def find_launcher() -> Path:
    """The executable `autofinity` of this installation, or the one built in the source tree.

    Raises `LinuxError` when there is none.
    """
    package = Path(__file__).resolve().parents[1]
    candidates = (
        Path(sys.executable).parent / "autofinity",
        Path(sys.argv[0]).resolve().parent / "autofinity",
        package.parent / "build" / "dev" / "install" / "bin" / "autofinity",
    )
    for path in candidates:
        if _is_native(path):
            return path
    raise LinuxError(
        "the native launcher is missing; expected the executable autofinity beside "
        f"{sys.executable}. Reinstall autofinity with a C compiler at hand (in a source tree: "
        "`make dev`)"
    )


def _is_native(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == _ELF
    except OSError:
        return False
