"""Lists in documents, made from the tables and files that hold the facts.

    python scripts/lists.py [--check]

Each list stands between two marks that name it: mechanisms (autofinity/mechanisms/registry.py),
mappers (autofinity/mapping/mappers.py), machines (data/machines), functions that order threads
(autofinity/capture/synchronisation.toml), hints (autofinity/model/affinity.py), launchers
(autofinity/affinity/launchers/table.py).
policies/machines.txt, by which a run knows its machine, and policies/speeds.txt are made of
data/machines as a whole. With --check nothing is written; the files that would change are named,
and the exit code is 1.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path

from autofinity.affinity.hints import get_affinity
from autofinity.affinity.launchers import table as launchers
from autofinity.affinity.openmp import OPENMP
from autofinity.affinity.ranks import place_ranks
from autofinity.capture import synchronisation
from autofinity.mapping import mappers
from autofinity.mechanisms import lists as mechanisms
from autofinity.model.affinity import HINTS, PACKED
from autofinity.model.facts import Speeds
from autofinity.policy.readable import hint_text
from autofinity.policy.shipped import MACHINES, SPEEDS, KnownMachine, shape_of, speeds_line
from autofinity.report import markdown
from autofinity.report.marked import between_marks
from autofinity.sim.preset import cpu_models_of, load_preset, preset_names
from autofinity.sim.speeds import speeds_of

HERE = Path(__file__).resolve().parents[1]


def printed(*words: str) -> Callable[[], str]:
    """The printed output of a command of autofinity."""
    command = [sys.executable, "-m", "autofinity", *words]
    return lambda: subprocess.run(command, check=True, capture_output=True, text=True).stdout


def hints() -> str:
    """The meaning of each hint, in OpenMP's words too, and the CPUs that it gives the threads of an
    example.
    """
    topology = load_preset(EXAMPLE).topology
    openmp_names = ("`OMP_PLACES`", "`OMP_PROC_BIND`")
    lines = [markdown.heading("letters", "name", "meaning", *openmp_names, "example")]
    for hint in HINTS:
        words = OPENMP[hint]
        openmp = (f"`{words.places}`", f"`{words.bind}`") if words else ("a list", "`close`")
        affinity = get_affinity(topology, 8, hint).affinity
        cells = (f"`{hint}`", f"`{hint.name}`", hint_text(hint), *openmp, f"`{affinity}`")
        lines.append(markdown.row(*cells))
    return "\n".join(lines) + "\n"


def tools() -> str:
    """Tools of `hints --as`, with the places of four ranks of two threads."""
    topology = load_preset(EXAMPLE).topology
    return launchers.all_in_markdown(place_ranks(topology, 4, 2, PACKED), topology)


EXAMPLE = "opteron-6164he"
LISTS = {
    "docs/hints.md": {"hints": hints, "launchers": tools},
    "docs/mechanisms.md": {"mechanisms": mechanisms.all_in_markdown},
    "docs/run.md": {"mechanisms": mechanisms.live_in_markdown},
    "docs/suites.md": {"synchronisation": synchronisation.in_markdown},
    "docs/mapping.md": {"mappers": mappers.all_in_markdown},
    "docs/machines.md": {
        "machines": printed("machines", "--markdown"),
        "sources": printed("machines", "--sources", "--markdown"),
    },
}


def known_machines() -> str:
    """`policies/machines.txt`: the kinds of machines that are known."""
    lines = [
        "# name sockets nodes LLCs/socket cores/LLC CPU: by `make lists`, from data/machines",
    ]
    for name in preset_names():
        shape = shape_of(load_preset(name).topology)
        for cpu_model in cpu_models_of(name):
            if shape is None:
                raise SystemExit(f"{name}: its parts are not alike, so no run would know it")
            lines.append(KnownMachine(name, shape, cpu_model).line())
    return "\n".join(lines) + "\n"


def known_speeds() -> str:
    """`policies/speeds.txt`: speeds of the memory side of each machine (`model.facts.Speeds`)."""
    names = " ".join(field.name for field in fields(Speeds))
    lines = [f"# name {names}: by `make lists`, from data/machines"]
    for name in preset_names():
        if cpu_models_of(name):
            lines.append(speeds_line(name, speeds_of(load_preset(name))))
    return "\n".join(lines) + "\n"


def stale() -> Iterator[tuple[Path, str]]:
    """Files whose content is out of date, and their new content."""
    for name, make in ((MACHINES, known_machines), (SPEEDS, known_speeds)):
        path, made = HERE / "policies" / name, make()
        if not path.exists() or path.read_text(encoding="utf-8") != made:
            yield path, made
    for name, lists in LISTS.items():
        path = HERE / name
        before = text = path.read_text(encoding="utf-8")
        for mark, made in lists.items():
            text = between_marks(text, f"make lists, {mark}", made())
        if text != before:
            yield path, text


def main() -> int:
    check = sys.argv[1:] == ["--check"]
    found = list(stale())
    for path, text in found:
        print(f"{path.relative_to(HERE)}: {'is stale; `make lists`' if check else 'written'}")
        if not check:
            path.write_text(text, encoding="utf-8")
    return 1 if check and found else 0


if __name__ == "__main__":
    sys.exit(main())
