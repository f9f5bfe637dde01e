"""Preset files → `MachineSpec`. The files name the source of every number."""

from __future__ import annotations

import difflib
from pathlib import Path

from autofinity.checked_file import naming, read_toml
from autofinity.model.errors import TopologyError, UnknownMachineError
from autofinity.resources import shipped
from autofinity.sim.preset_machine import identity_of, whole_machine
from autofinity.sim.spec import MachineSpec


def preset_names() -> tuple[str, ...]:
    """Names of the shipped machines, in alphabetical order."""
    return tuple(sorted(path.stem for path in shipped("data", "machines").glob("*.toml")))


def load_preset(name: str) -> MachineSpec:
    """The shipped machine `name`, or the machine of a preset file when `name` ends in `.toml`.

    Raises `TopologyError` for an unknown name (with the nearest name) and for a bad file (with the
    key).
    """
    if name.endswith(".toml"):
        return read_preset(Path(name))
    known = preset_names()
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UnknownMachineError(
            f"unknown machine {name!r}{hint}; known are {', '.join(known)}, or give a .toml file"
        )
    return read_preset(shipped("data", "machines", f"{name}.toml"))


def cpu_models_of(name: str) -> tuple[str, ...]:
    """The kernel's names of the CPUs of machines that the shipped file `name` stands for.

    Empty for a machine that does not exist as such. Raises `TopologyError`.
    """
    path = shipped("data", "machines", f"{name}.toml")
    document = read_toml(path, TopologyError)
    with naming(path, TopologyError):
        return identity_of(document).cpu_models


def read_preset(path: Path) -> MachineSpec:
    """Read and check one preset file. Raises `TopologyError`, which names file and key."""
    document = read_toml(path, TopologyError)
    with naming(path, TopologyError):
        return whole_machine(document)
