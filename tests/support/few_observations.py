"""Of a machine that is shipped the observations of a few programs, as a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from autofinity.store.observations import write_one
from autofinity.workflow.observations import observations_of

FEW_ON = "xeon-e5-2650"
FEW = ("cg", "lu", "md", "pic")
"""With eight threads and small inputs."""


def write_few(file: Path) -> Path:
    """Returns the file."""
    table = observations_of(FEW_ON)
    some = np.isin(table.program.text(), FEW) & table.input.equals("small")
    write_one(table.take(some), file, packed=False)
    return file
