"""Policies that come with autofinity: by name, and by the machine that they were learned on.

    policies/NAME.json       a policy; NAME is what `--policy` takes: any-machine, a machine, or
                             MACHINE.paper, that of the published method
    policies/machines.txt    kinds of machines: written by `make lists` from data/machines
    policies/speeds.txt      speeds of the memory side of each, likewise

The launcher reads the same files (`native/launcher/default_policy.c`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import NamedTuple

from autofinity.model.errors import AutofinityError, UnknownPolicyError
from autofinity.model.facts import Speeds
from autofinity.model.topology import Topology
from autofinity.private_file import read_regular
from autofinity.resources import shipped

ANY_MACHINE = "any-machine"
"""Name of the policy of facts that hold on any machine."""
PAPERS_END = ".paper"
"""End of the names of policies of the published method of Moore & Childers. They are baselines, and
no machine's own policy."""
MACHINES = "machines.txt"
SPEEDS = "speeds.txt"
_LARGEST_SPEEDS_BYTES = 1 << 16
_RENAMED = {"default": "opteron-6164he"}


class Shape(NamedTuple):
    """Shape of a uniform machine: all that its affinities depend on."""

    sockets: int
    nodes: int
    """NUMA nodes that have CPUs."""
    llcs_per_socket: int
    cores_per_llc: int


@dataclass(frozen=True, slots=True)
class KnownMachine:
    """A line of `machines.txt`: a kind of machine that a policy may have been learned on."""

    name: str
    shape: Shape
    cpu_model: str

    def fits(self, cpu_model: str, shape: Shape) -> bool:
        """Whether a machine of this CPU model and shape is of this kind.

        The model that the kernel reports may go on after a space ("AMD EPYC 9654 96-Core
        Processor").
        """
        return shape == self.shape and f"{cpu_model} ".startswith(f"{self.cpu_model} ")

    def line(self) -> str:
        """The line that `read_machines` reads."""
        return " ".join((self.name, *map(str, self.shape), self.cpu_model))


def shape_of(topology: Topology) -> Shape | None:
    """Shape of the whole machine, whichever CPUs may be used.

    None where parts of the machine differ, or CPUs are in no NUMA node.
    """
    cores: dict[tuple[int, int], set[int]] = {}
    for pu in topology.pus:
        cores.setdefault((pu.package, pu.llc), set()).add(pu.core)
    llcs: dict[int, int] = {}
    for package, _ in cores:
        llcs[package] = llcs.get(package, 0) + 1
    sizes, counts = {len(each) for each in cores.values()}, set(llcs.values())
    if len(sizes) != 1 or len(counts) != 1 or topology.cpus_without_node:
        return None
    nodes = {pu.node for pu in topology.pus}
    return Shape(len(llcs), len(nodes), counts.pop(), sizes.pop())


def policy_names(folder: Path | None = None) -> tuple[str, ...]:
    """Names of the shipped policies (or of those in `folder`), in alphabetical order."""
    folder = folder or _folder()
    return tuple(sorted(path.stem for path in folder.glob("*.json"))) if folder else ()


def policy_path(wish: str, folder: Path | None = None) -> Path:
    """The file that a user names: a file, else the shipped policy of that name.

    Raises `PolicyError`.
    """
    path, there = Path(wish), os.access(wish, os.F_OK)  # of a name of any length
    # A folder of results may have the machine's name.
    if there and not path.is_dir():
        return path
    known = policy_names(folder)
    if wish in known:
        return _named(wish, folder)
    if there:
        return path
    if wish in _RENAMED:
        raise UnknownPolicyError(
            f"the policy {wish!r} is called {_RENAMED[wish]} and is of that machine only; expected "
            "that name, or no name for the policy of the machine at hand"
        )
    also = f" or one of {', '.join(known)}" if known else ""
    raise UnknownPolicyError(f"there is no policy {wish!r}; expected a policy file{also}")


def policy_of_machine(
    cpu_model: str, shape: Shape | None, folder: Path | None = None
) -> Path | None:
    """The shipped policy that was learned on such a machine; None where there is none."""
    folder = folder or _folder()
    if folder is None:
        return None
    paths = (folder / f"{name}.json" for name in names_of_machine(cpu_model, shape, folder))
    return next((path for path in paths if path.exists()), None)


def names_of_machine(
    cpu_model: str, shape: Shape | None, folder: Path | None = None
) -> tuple[str, ...]:
    """Known kinds of machine that such a machine belongs to, in the order of `machines.txt`."""
    folder = folder or _folder()
    if folder is None or shape is None:
        return ()
    known = read_machines(folder / MACHINES)
    return tuple(machine.name for machine in known if machine.fits(cpu_model, shape))


def modes_of(name: str, folder: Path | None = None) -> frozenset[str]:
    """The kind of machine `name`, and those of the same CPU in other NUMA modes, by
    `machines.txt`.
    """
    folder = folder or _folder()
    known = tuple(read_machines(folder / MACHINES)) if folder else ()
    models = {machine.cpu_model for machine in known if machine.name == name}
    return frozenset({name, *(each.name for each in known if each.cpu_model in models)})


def policy_of_any_machine(folder: Path | None = None) -> Path | None:
    """The shipped policy of facts that hold on any machine; None: none is shipped."""
    folder = folder or _folder()
    path = folder / f"{ANY_MACHINE}.json" if folder else None
    return path if path is not None and path.exists() else None


def speeds_of_machine(cpu_model: str, shape: Shape | None) -> Speeds:
    """Speeds on record for such a machine; NaN throughout where there are none."""
    folder = _folder()
    if folder is None:
        return Speeds()
    known = dict(read_speeds(folder / SPEEDS))
    names = names_of_machine(cpu_model, shape, folder)
    return next((known[name] for name in names if name in known), Speeds())


def read_speeds(path: Path) -> Iterator[tuple[str, Speeds]]:
    """Names and speeds in a file such as `speeds.txt`.

    Lines of another form are skipped, as are lines with an impossible speed.
    """
    try:
        text = read_regular(path, _LARGEST_SPEEDS_BYTES).decode("utf-8", "replace")
    except OSError:
        return
    for line in text.splitlines():
        name, *words = line.split()[: 1 + len(fields(Speeds))] or [""]
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            continue
        if len(numbers) == len(fields(Speeds)) and not any(number <= 0 for number in numbers):
            yield name, Speeds(*numbers)


def speeds_line(name: str, speeds: Speeds) -> str:
    """The line that `read_speeds` reads."""
    return " ".join((name, *(f"{value:.6g}" for value in astuple(speeds))))


def read_machines(path: Path) -> Iterator[KnownMachine]:
    """The machines of a file such as `machines.txt`; lines of another form are skipped."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        words = line.split(" ", 5)
        if len(words) == 6 and all(map(str.isdecimal, words[1:5])):
            yield KnownMachine(words[0], Shape(*map(int, words[1:5])), words[5])


def _named(name: str, folder: Path | None) -> Path:
    return (folder / f"{name}.json") if folder else shipped("policies", f"{name}.json").resolve()


def _folder() -> Path | None:
    try:
        return shipped("policies").resolve()
    except AutofinityError:
        return None
