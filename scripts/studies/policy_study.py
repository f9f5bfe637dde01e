"""The value of each choice in learning: one row for each variation, leave one program out.

    python scripts/studies/policy_study.py [--machine M] [--paper] [--others FILE] [--into DOCUMENT]

Learns from the shipped observations (data/observations) of 8 threads. Judges on the same machine,
with every other thread count that was profiled, and on every other machine with shipped
observations. Intervals are 95 % by bootstrap over programs. `--paper` adds ways of the paper
(figure 6, JRip), which take minutes. With `--into` the tables go between their marks in a document;
`--only NAME` makes one of them.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from policy_rows import (
    FIGURES,
    judged_on,
    learning,
    leave_one_out,
    of_threads,
    periods,
    row,
    without_kin,
)
from shown_table import add_into, show_table

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.cases import Case, summarise
from autofinity.evaluation.judge import behaviour_seen, judge
from autofinity.evaluation.times import geometric_mean, times_of
from autofinity.learning.hint_samples import WARMUP_PERIODS
from autofinity.learning.settings import PAPER, LearningSettings
from autofinity.model.affinity import SPREAD, Hint
from autofinity.model.observation import Workload
from autofinity.model.policy import RulePolicy
from autofinity.policy.answers import Step, steps
from autofinity.policy.on_machine import on_machine
from autofinity.policy.readable import condition_text
from autofinity.policy.selector import decide, values_of
from autofinity.profiling.placements import PROBE
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import read
from autofinity.workflow.backends import machine_topology
from autofinity.workflow.machine_facts import facts_on

OBSERVATIONS = Path(__file__).resolve().parents[2] / "data" / "observations"
TRAINED_WITH = 8
OURS = LearningSettings()
SETTINGS: Mapping[str, LearningSettings] = {
    "**default**": OURS,
    "one look only": replace(OURS, probe="none"),
    "no trial": replace(OURS, trial="none"),
    "the second look in sLP": replace(OURS, probe="sLP"),
    "all ratios": replace(OURS, features="ratios"),
    "rates, not ratios": replace(OURS, features="rates"),
    "rates and ratios": replace(OURS, features="both"),
    "RIPPER on the same table": replace(OURS, learner="ripper"),
    "features by CFS": replace(OURS, selection="cfs"),
    "learned from single periods": replace(OURS, window=1),
    "learned from means of 8 periods": replace(OURS, window=8),
    "5 bins": replace(OURS, bins=5),
    "10 bins": replace(OURS, bins=10),
    "leeway 1": replace(OURS, leeway=1),
    "leeway 2": replace(OURS, leeway=2),
    "2 events at once": replace(OURS, k=2),
    "3 events at once": replace(OURS, k=3),
}
PAPERS: Mapping[str, LearningSettings] = {
    "the paper's way": PAPER,
    "the paper's way, condensed by means": replace(PAPER, condense="mean"),
    "the paper's way, condensed by maxima": replace(PAPER, condense="max"),
    "the paper's way, nominal bins": replace(PAPER, bin_type="nominal"),
    "the paper's way, rows weighted by stake": replace(PAPER, weighting="stake"),
}
SAMPLES = (1, 8)
"""Numbers of periods after the warm-up that a decision is made from, besides the whole run."""
_LINES = "---|---|---|---|---|---|"
HEAD = f"| variation | decided from | {FIGURES}\n|---|---|{_LINES}"
MISSED_HEAD = (
    "| program | threads | lost | ran in | best hint's | because |\n|---|---|---|---|---|---|"
)
SPANS_MS: Mapping[str, tuple[float, float]] = {
    "all runs": (0, math.inf),
    "under 10 ms": (0, 10),
    "10 to 20 ms": (10, 20),
    "20 to 50 ms": (20, 50),
    "longer": (50, math.inf),
}
TABLES = ("variations", "carried", "elsewhere", "missed", "within")
CARRIED_HEAD = f"| learned on | judged on | {FIGURES}\n|---|---|{_LINES}"


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--machine", default="opteron-6164he")
    words.add_argument("--paper", action="store_true", help="ways of the paper, too (minutes)")
    words.add_argument(
        "--others", type=Path, help="only judge by these observations of the machine (profile -o)"
    )
    add_into(words)
    words.add_argument("--only", choices=TABLES, action="append", help="this table (default: all)")
    wanted = words.parse_args()
    tables = {path.stem: read(path) for path in sorted(OBSERVATIONS.glob("*.parquet"))}
    own = tables[wanted.machine]
    if wanted.others is not None:
        show_table(others(wanted.machine, own, read(wanted.others)), None, "")
        return
    lines = {
        "variations": lambda: variations(wanted.machine, own, wanted.paper),
        "carried": lambda: carried_over(tables),
        "elsewhere": lambda: elsewhere(tables),
        "missed": lambda: missed(wanted.machine, own),
        "within": lambda: within_runs(wanted.machine, own),
    }
    for name in wanted.only or TABLES:
        show_table(lines[name](), wanted.into, f"scripts/studies/policy_study.py, {name}")


def variations(machine: str, table: ObservationTable, paper: bool) -> Iterator[str]:
    """The main study: one machine, one thread count."""
    yield HEAD
    table = of_threads(table, TRAINED_WITH)

    def line(name: str, settings: LearningSettings, samples: int) -> str:
        return row(name, periods(samples), leave_one_out(machine, table, settings, samples))

    for name, settings in SETTINGS.items():
        yield line(name, settings, 0)
    kin = judged_on(machine, table, without_kin(machine, table, OURS), 0)
    yield row("kindred families left out, too", periods(0), kin)
    for samples in SAMPLES:
        yield line("**default**", OURS, samples)
    for name, settings in PAPERS.items() if paper else ():
        yield line(name, settings, 1)


def carried_over(tables: Mapping[str, ObservationTable]) -> Iterator[str]:
    """Policies used with other thread counts than they were learned with."""
    yield CARRIED_HEAD
    for machine, table in tables.items():
        counts = sorted(set(table.threads.tolist()))
        if len(counts) == 1:
            continue
        learner = learning(machine, of_threads(table, TRAINED_WITH), OURS)
        for threads in counts:
            cases = judged_on(machine, of_threads(table, threads), learner, 0)
            yield row(f"`{machine}`, {TRAINED_WITH} threads", f"{threads} threads", cases)
        yield from all_counts(machine, table)


def elsewhere(tables: Mapping[str, ObservationTable]) -> Iterator[str]:
    """A line for each machine that is learned on, a column for each machine that is judged on, one
    thread count each.
    """
    tables = {machine: of_threads(table, usual(table)) for machine, table in tables.items()}
    yield f"| learned on | {' | '.join(f'`{machine}`' for machine in tables)} |"
    yield "|---|" + "---|" * len(tables)
    for learned_on, source in tables.items():
        learner = learning(learned_on, source, OURS)
        summaries = [
            summarise(judged_on(machine, table, learner, 0).cases)
            for machine, table in tables.items()
        ]
        cells = [f"{s.best_hint_ratio:.3f}, {s.wins}/{s.interesting}" for s in summaries]
        yield f"| `{learned_on}` | {' | '.join(cells)} |"


def usual(table: ObservationTable) -> int:
    """The thread count that the machine's policy is learned with (`scripts/policies.py`)."""
    counts = sorted(set(table.threads.tolist()))
    return TRAINED_WITH if TRAINED_WITH in counts else counts[0]


def others(machine: str, shipped: ObservationTable, judged: ObservationTable) -> Iterator[str]:
    """Rows of thread counts without shipped observations."""
    yield CARRIED_HEAD
    for threads in sorted(set(judged.threads.tolist())):
        learner = learning(machine, of_threads(shipped, TRAINED_WITH), OURS)
        cases = judged_on(machine, of_threads(judged, threads), learner, 0)
        trained = f"`{machine}`, {TRAINED_WITH} threads"
        yield row(trained, f"`{machine}`, {threads} threads", cases)


def all_counts(machine: str, table: ObservationTable) -> Iterator[str]:
    """Rows of all thread counts together: learned with 8 threads, without what answers mean with
    other counts, and learned with several.
    """
    train = of_threads(table, TRAINED_WITH)
    counts = sorted(set(table.threads.tolist()))
    more = [count for count in counts if count <= 2 * TRAINED_WITH]
    several = table.take(np.isin(table.threads, more))
    one_answer = replace(OURS, other_counts=False)
    learned: dict[str, tuple[ObservationTable, LearningSettings]] = {
        f"{TRAINED_WITH} threads": (train, OURS),
        f"{TRAINED_WITH} threads, one answer for all": (train, one_answer),
        f"{', '.join(map(str, more))} threads": (several, OURS),
        f"{', '.join(map(str, counts))} threads": (table, OURS),
    }
    for learned_with, (known, settings) in learned.items():
        judged = judged_on(machine, table, learning(machine, known, settings), 0)
        yield row(f"`{machine}`, {learned_with}", f"`{machine}`, all counts", judged)


def within_runs(machine: str, table: ObservationTable) -> Iterator[str]:
    """The cost of decisions within a run, by the length of a spread run: the policy, compared
    with one that is always right after the same looks, and one that is right after the first look.
    """
    matches = BestMatches(machine_topology(machine))
    times = times_of(table)
    learn, _ = learning(machine, of_threads(table, TRAINED_WITH), OURS)
    counts = sorted(set(table.threads.tolist()))
    facts_of = facts_on(machine)
    judged, _ = judge(table, counts, learn, matches, WARMUP_PERIODS, 0, facts_of=facts_of)
    cases = [case for case in judged if "in_run" in case.roi_s]  # with runs that were switched

    def right(case: Case, looks_again: bool) -> float:
        """Seconds of the best possible decision after the looks."""
        start, probe = (matches(case.workload.threads, hint) for hint in (SPREAD, PROBE))
        switched = times.switched.get(case.workload, {})
        seen = behaviour_seen(table, case.workload, start, WARMUP_PERIODS, 1)
        policy = on_machine(learn(case.workload.program), facts_of(case.workload.threads))
        if looks_again and policy.second_after(decide(policy, seen).hint) is not None:
            probed = times.probed.get(case.workload, {})
            return min([*probed.values(), switched.get(probe, math.inf)])
        if looks_again:
            return case.roi_s["in_run"]
        return min([times.of(case.workload, start), *switched.values()])

    ways: Mapping[str, Callable[[Case], float]] = {
        "after one period, then started again": lambda case: case.roi_s["one_period"],
        "within the run": lambda case: case.roi_s["in_run"],
        "within it, always right after the second look": lambda case: right(case, True),
        "within it, always right after the first look": lambda case: right(case, False),
    }
    groups = [
        [case for case in cases if least <= case.roi_s["spread"] * 1000 < most]
        for least, most in SPANS_MS.values()
    ]
    heads = [f"{name} ({len(group)} cases)" for name, group in zip(SPANS_MS, groups, strict=True)]
    yield "| decided | " + " | ".join(heads) + " |"
    yield "|---|" + "---|" * len(groups)
    for name, seconds in ways.items():
        cells = [geometric_mean(c.roi_s["best_hint"] / seconds(c) for c in g) for g in groups]
        yield f"| {name} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |"


def missed(machine: str, table: ObservationTable) -> Iterator[str]:
    """The cases that lose more than a tie against the best hint, and why."""
    yield MISSED_HEAD
    matches = BestMatches(machine_topology(machine))
    learn, _ = learning(machine, of_threads(table, TRAINED_WITH), OURS)
    counts = sorted(set(table.threads.tolist()))
    cases, _ = judge(table, counts, learn, matches, WARMUP_PERIODS, 0)
    for case in sorted(cases, key=lambda case: -case.regret):
        if case.right_hint:
            continue
        where, workload = case.affinities, case.workload
        said = reasons(learn(workload.program), table, workload, matches)
        yield (
            f"| `{workload.program}` | {workload.threads} | {case.regret:.1%} "
            f"| {where['autofinity']} | {where['best_hint']} | {said} |"
        )


def reasons(
    policy: RulePolicy, table: ObservationTable, workload: Workload, matches: BestMatches
) -> str:
    """The rules that gave the answers, with the values of their conditions."""

    def look(hint: Hint) -> Mapping[str, float]:
        affinity = matches(workload.threads, hint)
        return behaviour_seen(table, workload, affinity, WARMUP_PERIODS, 0)

    def meant(hint: Hint) -> Hint:
        return policy.at(hint, workload.threads, matches.cores)

    found = steps(policy, look, meant).steps
    words = "; ".join(map(reason, found))
    hint = found[-1].decision.hint
    better = meant(hint)
    return words if better == hint else f"{words}; {better} with {workload.threads} threads"


def reason(step: Step) -> str:
    """The answer of one step, and the conditions and values behind it."""
    policy, values = step.asked, values_of(step.asked, step.values)
    asked = {c.counter for rule in policy.rules for c in rule.conditions}
    seen = ", ".join(f"{name} {values[name]:.3f}" for name in sorted(asked))
    if step.decision.rule is None:
        return f"no rule holds ({seen}): {step.decision.hint}"
    rule = policy.rules[step.decision.rule]
    why = " and ".join(condition_text(condition) for condition in rule.conditions)
    return f"{why} ({seen}): {step.decision.hint}"


if __name__ == "__main__":
    main()
