"""The mappers that work on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from autofinity.mapping import scotch as scotch_mapper
from autofinity.mapping.mappers import MAPPERS
from autofinity.model.errors import CapabilityError

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet


def _why_no_scotch() -> str | None:
    try:
        scotch_mapper._library()
    except CapabilityError as error:
        return str(error)
    return None


WHY_NO_SCOTCH = _why_no_scotch()
"""The reason why SCOTCH cannot be used; None where its library is installed."""

MAPPERS_HERE = {
    name: mapper for name, mapper in MAPPERS.items() if name != "scotch" or WHY_NO_SCOTCH is None
}


def mappers_but(*names: str) -> list[ParameterSet]:
    """Parameters of a test: all other mappers; a mapper that does not work here gives a skipped
    test.
    """
    return [
        pytest.param(
            name,
            marks=[] if name in MAPPERS_HERE else pytest.mark.skip(reason=WHY_NO_SCOTCH or ""),
        )
        for name in MAPPERS
        if name not in names
    ]
