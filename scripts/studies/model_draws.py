"""Test whether policies depend on numbers of the model: train on some variants, judge on others.

    python scripts/studies/model_draws.py [--machine M] [--threads N] [--size S] [--train N]
        [--test N]

Each variant is the machine with its latencies, overlap, bandwidths and ways up to 20 % larger or
smaller (`autofinity/sim/draws.py`), and page colours of its own; the hints' best matches are
profiled on each. With `tiny` inputs its caches are a sixteenth (`--shrink`), about as large to them
as the real ones are to `small` inputs. One program, and with it its family, is left out at a time.
Prints the table of docs/model-draws.md, and the programs whose best hint flips between variants: a
label that flips is no evidence. An interrupted call continues where it stopped, as long as WORK
stays.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
from shown_table import add_into, show_table

from autofinity import __version__
from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.cases import Case, summarise
from autofinity.evaluation.judge import judge
from autofinity.evaluation.left_out import leaving_out
from autofinity.evaluation.times import times_of
from autofinity.learning.hint_samples import WARMUP_PERIODS
from autofinity.learning.leeway_hints import hints_on
from autofinity.learning.pipeline import learn_policy
from autofinity.learning.settings import LearningSettings
from autofinity.model.affinity import Affinity
from autofinity.pool.local import LocalPool
from autofinity.profiling.campaign import ReadyProgram, in_order, plan, profile
from autofinity.profiling.selection import best_matches
from autofinity.profiling.target import Target
from autofinity.report import markdown
from autofinity.sim.draws import drawn, shrunk
from autofinity.sim.machine import SimMachine
from autofinity.sim.preset import load_preset
from autofinity.sim.spec import MachineSpec
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import ObservationStore, table_of
from autofinity.workflow.capture import capture
from autofinity.workflow.wanted import Wanted, wanted_on

HERE = Path(__file__).resolve().parents[2]
WITHIN = 0.01
"""Hints within this share of the best count as best."""
type Best = Mapping[str, frozenset[Affinity]]
"""Program → affinities of its best hints."""


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--machine", default="opteron-6164he")
    words.add_argument("--threads", type=int, default=8)
    words.add_argument("--size", default="tiny")
    words.add_argument("--shrink", type=int, default=16, help="divide the sets of L2 and LLC")
    words.add_argument("--period-us", type=float, default=50.0)
    words.add_argument("--train", type=int, default=2, metavar="DRAWS")
    words.add_argument("--test", type=int, default=2, metavar="DRAWS")
    words.add_argument("--program", action="append", default=[], dest="programs")
    words.add_argument("--work", type=Path, default=HERE / "build" / "draws")
    words.add_argument("--jobs", type=int, default=1)
    add_into(words)
    asked = words.parse_args()
    wanted = wanted_on(
        asked.machine,
        programs=tuple(asked.programs),
        sizes=(asked.size,),
        threads=(asked.threads,),
        jobs=asked.jobs,
        work=asked.work,
    )
    wanted = replace(wanted, period_us=asked.period_us)
    programs = capture(wanted, asked.threads)
    base = shrunk(load_preset(asked.machine), asked.shrink)
    draws = [
        observed(wanted, base, f"{asked.machine}-{asked.shrink}", programs, draw)
        for draw in range(1, 1 + asked.train + asked.test)
    ]
    lines = report(wanted, draws[: asked.train], draws[asked.train :])
    show_table(lines, asked.into, "scripts/studies/model_draws.py")


def observed(
    wanted: Wanted, base: MachineSpec, name: str, programs: Sequence[ReadyProgram], draw: int
) -> ObservationTable:
    """Observations of one variant of the machine; its number is part of the name of the input, so
    that variants are workloads of their own.
    """
    machine = SimMachine(drawn(base, draw))
    (threads,) = wanted.threads
    target = Target(
        machine=machine,
        name=wanted.machine,
        backend="sim",
        clock_hz=machine.clock_hz,
        period_ns=round((wanted.period_us or 0) * 1000),
        version=__version__,
    )
    named = [replace(program, input=f"{program.input}, draw {draw}") for program in programs]
    cells = in_order(plan(named, {threads: best_matches(machine.topology, threads)}, [draw]))
    store = ObservationStore(wanted.work / "observations" / f"{name}-draw-{draw}")
    store.expect({s.workload: f"{s.origin} {machine.spec!r}" for s in named})
    with LocalPool(wanted.at_once) as pool:
        for failure in profile(target, cells, store, pool):
            print(f"{failure.run.program} on variant {draw}: {failure.reason}")
    return store.read()


def report(
    wanted: Wanted, train: Sequence[ObservationTable], test: Sequence[ObservationTable]
) -> list[str]:
    """The table, and the labels that flip."""
    best = [best_hints(table) for table in (*train, *test)]
    own = unsteady(best[: len(train)])
    steady = [table.take(~_is_one_of(table, own)) for table in train]
    together = table_of([row for table in train for row in table.observations()])
    kept = table_of([row for table in steady for row in table.observations()])
    rows = {
        "one variant, the same": [crossed(wanted, table, table) for table in train],
        "one variant, another variant": [
            crossed(wanted, a, b) for a, b in itertools.product(train, test)
        ],
        "all training variants, another variant": [crossed(wanted, together, b) for b in test],
        "these without labels that flip": [crossed(wanted, kept, b) for b in test],
    }
    pairs = list(itertools.product(best[: len(train)], best[len(train) :]))
    flips = [sum(not a[program] & b[program] for program in a) for a, b in pairs]
    return [
        "| trained on | judged on | interesting won | of the best hint | median regret | worst |",
        "|---|---|---|---|---|---|",
        *(row(name, cases) for name, cases in rows.items()),
        "",
        "Labels that flip from a training variant to a test variant: "
        f"{statistics.mean(flips):.1f} of {len(best[0])} programs on average. Dropped, for they "
        f"flip among the training variants: {', '.join(sorted(own)) or 'none'}.",
    ]


def row(name: str, judged: Sequence[list[Case]]) -> str:
    """A row over all cases of some (training, test) pairs."""
    trained, on = name.split(", ")[:2] if ", " in name else (name, "another")
    summary = summarise([case for cases in judged for case in cases])
    return markdown.row(
        trained,
        f"{on} draw" if on == "another" else on,
        f"{summary.wins} of {summary.interesting}",
        f"{summary.best_hint_ratio:.3f}",
        f"{summary.regret_median:.1%}",
        f"{summary.regret_max:.1%}",
    )


def crossed(wanted: Wanted, train: ObservationTable, test: ObservationTable) -> list[Case]:
    """The cases of each program of `test`, by a policy learned from the others of `train`."""
    match = BestMatches(load_preset(wanted.machine).topology)
    settings = LearningSettings()
    hints_of = hints_on(match, settings.leeway)
    learner = leaving_out(
        train, lambda rest: learn_policy(rest, settings, hints_of, {}, match).policy
    )
    cases, _ = judge(test, wanted.threads, learner, match, WARMUP_PERIODS, 0)
    return cases


def best_hints(table: ObservationTable) -> Best:
    """The affinities of each program that are within 1 % of the best."""
    return {
        workload.program: frozenset(
            affinity
            for affinity, roi_s in times.items()
            if roi_s <= min(times.values()) * (1 + WITHIN)
        )
        for workload, times in times_of(table).roi_s.items()
    }


def unsteady(draws: Iterable[Best]) -> set[str]:
    """Programs without a hint that is best in all variants."""
    first, *others = draws
    return {
        program
        for program, hints in first.items()
        if not hints.intersection(*(other[program] for other in others))
    }


def _is_one_of(table: ObservationTable, programs: set[str]) -> npt.NDArray[np.bool_]:
    return np.isin(table.program.text().astype(str), sorted(programs))


if __name__ == "__main__":
    main()
