"""Files of a folder of observations. Nothing is read, so that a wrong path is refused at once."""

from __future__ import annotations

from pathlib import Path

from autofinity.model.errors import StoreError


def observation_files(path: Path) -> list[Path]:
    """The files of a folder, or the named file. Raises `StoreError` where there is none."""
    if path.is_dir():
        files = sorted(path.glob("*.parquet"))
    else:
        files = [path] if path.exists() else []
    if not files:
        raise StoreError(
            f"no observations at {path}; expected a folder (or a file) that `autofinity profile` "
            "or `autofinity train` wrote"
        )
    return files
