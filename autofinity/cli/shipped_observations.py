"""The observations that come with autofinity, by machine."""

from __future__ import annotations

from pathlib import Path

from autofinity.model.errors import AutofinityError
from autofinity.resources import shipped


def shipped_observations(machine: str) -> Path | None:
    """The file of a machine by its preset name; None where there is none."""
    if "/" in machine:
        return None
    try:
        return shipped("data", "observations", f"{machine}.parquet")
    except AutofinityError:
        return None
