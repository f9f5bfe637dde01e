"""Paths of shipped files: policies, machine data and the training suite.

An installed package has them in `autofinity/share`. In a source tree they are beside the package,
and these have precedence, so that an edit takes effect at once.
"""

from __future__ import annotations

import os
from pathlib import Path

from autofinity.model.errors import AutofinityError

_PACKAGE = Path(__file__).resolve().parent


def shipped(*parts: str) -> Path:
    """Path of a shipped file or folder, for example `shipped("training", "suite.toml")`.

    Raises `AutofinityError` when the file is missing: the installation is incomplete.
    """
    for root in (_PACKAGE.parent, _PACKAGE / "share"):
        path = root.joinpath(*parts)
        if os.access(path, os.F_OK) and (
            root != _PACKAGE.parent or (root / "pyproject.toml").exists()
        ):
            return path
    raise AutofinityError(
        f"the shipped file {'/'.join(parts)} is missing; expected it in {_PACKAGE / 'share'}. "
        "Reinstall autofinity."
    )
