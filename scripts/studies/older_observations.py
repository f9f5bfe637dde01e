"""Observations that were shipped before code was captured with its vectors, from the history of the
repository: studies compare them with those of now.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BEFORE_VECTORS = "02792307"
"""The last commit with them. Instructions are those of instrumented programs, 0.45 to 1.6 times
those of the plain build. They are of 8 threads (4 on small machines; the Opteron has more counts),
inputs of size small, and the simulator of then."""


def keep_before_vectors(machine: str, folder: Path) -> Path:
    """Write those of a machine into a file of the folder, and return the file.

    Raises `CalledProcessError` without git, and in a clone without that part of the history.
    """
    name = f"{machine}.parquet"
    words = ("git", "-C", ROOT, "show", f"{BEFORE_VECTORS}:data/observations/{name}")
    packed = subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout
    (folder / name).write_bytes(packed)
    return folder / name
