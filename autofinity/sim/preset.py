"""Preset files → `MachineSpec`. The files say where every number comes from."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path

from autofinity.model.errors import TopologyError
from autofinity.resources import shipped
from autofinity.sim.fields import Fields
from autofinity.sim.preset_machine import whole_machine
from autofinity.sim.spec import MachineSpec

LARGEST_PRESET_BYTES = 4 << 20
"""Far above any machine file; a device or a wrong file must not fill the memory."""


def preset_names() -> tuple[str, ...]:
    """Names of the shipped machines, in alphabetical order."""
    return tuple(sorted(path.stem for path in shipped("data", "machines").glob("*.toml")))


def load_preset(name: str) -> MachineSpec:
    """The shipped machine `name`, or the machine of a preset file when `name` ends in `.toml`.

    Raises `TopologyError` for an unknown name (naming the nearest) and for a bad file (naming the
    key).
    """
    if name.endswith(".toml"):
        return read_preset(Path(name))
    known = preset_names()
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise TopologyError(
            f"unknown machine {name!r}{hint}; known are {', '.join(known)}, or give a .toml file"
        )
    return read_preset(shipped("data", "machines", f"{name}.toml"))


def read_preset(path: Path) -> MachineSpec:
    """Read and check one preset file. Raises `TopologyError` naming file and key."""
    root = Fields(path, "", read_document(path))
    spec = whole_machine(root)
    root.end()
    return spec


def read_document(path: Path) -> dict[str, object]:
    """What a machine file says, unchecked. Raises `TopologyError` naming the file."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_PRESET_BYTES + 1)
        if len(content) > LARGEST_PRESET_BYTES:
            raise TopologyError(
                f"{path}: more than {LARGEST_PRESET_BYTES >> 20} MiB, which is no machine file"
            )
        return tomllib.loads(content.decode("utf-8"))
    # Python's TOML parser recurses once for each nested bracket.
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TopologyError(f"{path}: not a TOML file: {error}") from error
    except UnicodeDecodeError as error:
        raise TopologyError(f"{path}: not a text file in UTF-8: {error}") from error
    except OSError as error:
        raise TopologyError(f"{path}: cannot be read: {error.strerror}") from error
