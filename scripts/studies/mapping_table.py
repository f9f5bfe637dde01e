"""Print a comparison of the mappers, as Markdown: docs/mapping.md.

    python scripts/studies/mapping_table.py [patterns|captured|sparse|small]…

Takes two minutes, mostly to capture programs. Needs the test tools, a C compiler for the captured
programs, and libscotch for SCOTCH's columns.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from statistics import mean

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "scripts" / "bench"), str(ROOT / "tests" / "support")]

from captured_training import captured_training  # noqa: E402
from sharing_patterns import patterns  # noqa: E402

from autofinity.detect.whole_trace import whole_trace  # noqa: E402
from autofinity.mapping.compare import Mapped, mapped  # noqa: E402
from autofinity.model.errors import AutofinityError  # noqa: E402
from autofinity.model.sharing import SharingMatrix  # noqa: E402
from autofinity.model.topology import Topology  # noqa: E402
from autofinity.report.markdown import heading, row  # noqa: E402
from autofinity.workflow.backends import machine_topology  # noqa: E402

LARGE = (
    "xeon-e5-2650",
    "opteron-6164he",
    "synthetic:pack:4 numa:2 l3:1 core:4 pu:2",
    "synthetic:pack:4 numa:2 l3:4 core:4 pu:2",
)
SMALL = (
    "opteron-6164he",
    "xeon-e5-2650",
    "tlb-simulated",
    "synthetic:pack:2 numa:1 l3:2 core:2 pu:1",
    "synthetic:pack:2 numa:1 l3:1 core:2 pu:2",
    "synthetic:pack:4 numa:1 l3:1 core:2 pu:1",
    "synthetic:pack:2 numa:1 l3:1 core:6 pu:1",
)
SMALL_THREADS = (4, 6, 7, 8, 10, 12)
SMALL_SEEDS = 4
CAPTURED = {
    "prodcons": "128 4 2048",
    "stencil": "48 2",
    "sor": "64 16",
    "pic": "24 4000 5",
    "fluid": "8 4 1",
    "mergesort": "16384",
    "pricer": "1024 32",
    "kmedian": "1 2048 16",
    "lu": "3",
}
CAPTURED_ON = "xeon-e5-2650"
COLUMNS = ("eagermap", "edmonds", "treematch", "bisection", "refined", "compact", "random")
SPARSE_ON = "synthetic:pack:4 numa:2 l3:1 core:4 pu:2"
SPARSE_SEEDS = 30
DEARER = 1.01
EQUAL = 1 + 1e-9


def main() -> None:
    parts = {"patterns": _patterns, "captured": _captured, "sparse": _sparse, "small": _small}
    for name in sys.argv[1:] or parts:
        for line in parts[name]():
            print(line, flush=True)
        print()


@cache
def _topology(machine: str) -> Topology:
    return machine_topology(machine)


def _mapped(name: str, sharing: SharingMatrix, machine: str) -> Mapped:
    topology = _topology(machine)
    try:
        return mapped(name, sharing, topology, topology.allowed)
    except AutofinityError as error:
        return Mapped(name, reason=str(error))


def _beside_scotch(machine: str, sharing: SharingMatrix) -> dict[str, float]:
    """Cost of each mapper as a ratio to SCOTCH's."""
    costs = {m: _mapped(m, sharing, machine).cost for m in (*COLUMNS, "scotch")}
    return {m: costs[m] / costs["scotch"] for m in COLUMNS}


def _row(name: str, ratios: Mapping[str, float]) -> str:
    return row(name, *(f"{ratios[m]:.3f}" for m in COLUMNS))


def _patterns() -> Iterator[str]:
    """The worst of `LARGE` for each mapper, one thread per CPU."""
    worst: dict[str, dict[str, float]] = {}
    for machine in LARGE:
        for name, sharing in patterns(len(_topology(machine).pus)).items():
            found = _beside_scotch(machine, sharing)
            before = worst.get(name, found)
            worst[name] = {m: max(found[m], before[m]) for m in COLUMNS}
    yield heading("sharing", *COLUMNS)
    for name, ratios in worst.items():
        yield _row(name, ratios)


def _captured() -> Iterator[str]:
    yield heading("sharing", *COLUMNS)
    threads = len(_topology(CAPTURED_ON).pus)
    for name, arguments in CAPTURED.items():
        with tempfile.TemporaryDirectory() as folder:
            captured = captured_training(name, arguments, threads, Path(folder))
            sharing, _ = whole_trace(captured.program, captured.workers)
        yield _row(name, _beside_scotch(CAPTURED_ON, sharing))


def _sparse() -> Iterator[str]:
    """Distance of each mapper from SCOTCH on matrices of one kind, which differ by their seed."""
    threads = len(_topology(SPARSE_ON).pus)
    rows = [
        _beside_scotch(SPARSE_ON, patterns(threads, seed)["random, sparse"])
        for seed in range(SPARSE_SEEDS)
    ]
    yield heading(f"of {SPARSE_SEEDS} sparse random matrices", *COLUMNS)
    yield _row("mean", {m: mean(row[m] for row in rows) for m in COLUMNS})
    yield _row("worst", {m: max(row[m] for row in rows) for m in COLUMNS})
    dearer = (sum(row[m] > DEARER for row in rows) for m in COLUMNS)
    yield row("more than 1 % dearer", *map(str, dearer))


def _small() -> Iterator[str]:
    """The share of small cases in which a mapper equals the cheapest mapping."""
    names = ("eagermap", "edmonds", "treematch", "scotch", "bisection", "refined")
    cases: Counter[str] = Counter()
    equal: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for machine, threads, seed in product(SMALL, SMALL_THREADS, range(SMALL_SEEDS)):
        if threads > len(_topology(machine).pus):
            continue
        for pattern, sharing in patterns(threads, seed).items():
            least = _mapped("exact", sharing, machine).cost
            cases[pattern] += 1
            for name in names:
                equal[name][pattern] += _mapped(name, sharing, machine).cost <= least * EQUAL
    yield heading("sharing", "cases", *names)
    for pattern, count in cases.items():
        shares = (f"{equal[name][pattern] / count:.1%}" for name in names)
        yield row(pattern, str(count), *shares)


if __name__ == "__main__":
    main()
