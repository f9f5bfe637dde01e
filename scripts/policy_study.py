"""What the choices in learning are worth: one row a variation, leave one program out.

    python scripts/policy_study.py [--machine M] [--paper] [--others FILE] [--into DOCUMENT]

Learns from what is shipped in data/observations with 8 threads, judges there, with every other
thread count that was profiled, and on every other machine of which observations are shipped.
Intervals are 95 % by bootstrap over programs. `--paper` adds ways of the paper (figure 6, JRip),
which take minutes. With `--into` the tables go between their marks in a document.
"""

from __future__ import annotations

import argparse
import functools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from autofinity.affinity.best_matches import BestMatches
from autofinity.cli.backends import machine_topology
from autofinity.evaluation.cases import Case, summarise
from autofinity.evaluation.judge import Learn, behaviour_seen, judge
from autofinity.evaluation.left_out import leaving_out
from autofinity.evaluation.times import Subject
from autofinity.learning.leeway_hints import hints_on
from autofinity.learning.pipeline import learn_policy
from autofinity.learning.settings import PAPER, LearningSettings
from autofinity.model.affinity import DISTRIBUTED, Hint
from autofinity.model.policy import RulePolicy
from autofinity.policy.firing import fired
from autofinity.policy.readable import condition_text
from autofinity.policy.selector import values_of
from autofinity.report.marked import put_between_marks
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import read
from autofinity.trace.manifest import load_suite

HERE = Path(__file__).resolve().parents[1]
OBSERVATIONS = HERE / "data" / "observations"
TRAINED_WITH = 8
OURS = LearningSettings()
SETTINGS: Mapping[str, LearningSettings] = {
    "**default**": OURS,
    "one look only": replace(OURS, probe="none"),
    "the second look in sLP": replace(OURS, probe="sLP"),
    "all ratios": replace(OURS, features="ratios"),
    "rates, not ratios": replace(OURS, features="rates"),
    "rates and ratios": replace(OURS, features="both"),
    "RIPPER on the same table": replace(OURS, learner="ripper"),
    "features by CFS": replace(OURS, selection="cfs", engine="numpy"),
    "learned from single periods": replace(OURS, window=1),
    "learned from means of 8 periods": replace(OURS, window=8),
    "no warm-up left out": replace(OURS, warmup=0),
    "5 bins": replace(OURS, bins=5),
    "10 bins": replace(OURS, bins=10),
    "40 bins": replace(OURS, bins=40),
    "leeway 1": replace(OURS, leeway=1),
    "leeway 2": replace(OURS, leeway=2),
    "no ties": replace(OURS, tie_within=0.0),
    "insensitive programs kept": replace(OURS, drop_insensitive=False),
    "the edge of `speed_gain` anywhere": replace(OURS, edge_at_par=False),
    "2 events at once": replace(OURS, k=2),
    "3 events at once": replace(OURS, k=3),
}
PAPERS: Mapping[str, LearningSettings] = {
    "the paper's way": PAPER,
    "the paper's way, condensed by means": replace(PAPER, condense="mean"),
    "the paper's way, condensed by maxima": replace(PAPER, condense="max"),
    "the paper's way, nominal bins": replace(PAPER, bin_type="nominal"),
    "the paper's way, rows weighted by stake": replace(PAPER, weighting="stake"),
    "the paper's way, sampled at the start": replace(PAPER, sampled_in="start"),
}
SAMPLES = (1, 8)
"""Periods after the warm-up that a decision is made from, beside the whole run."""
_FIGURES = "interesting won | of the best hint | of the oracle | median regret | worst | rules |"
_LINES = "---|---|---|---|---|---|"
HEAD = f"| variation | decided from | {_FIGURES}\n|---|---|{_LINES}"
MISSED_HEAD = (
    "| program | threads | lost | ran in | best hint's | because |\n|---|---|---|---|---|---|"
)
CARRIED_HEAD = f"| learned on | judged on | {_FIGURES}\n|---|---|{_LINES}"


@dataclass(frozen=True, slots=True)
class Judged:
    """The cases of one variation, and how many rules each fold's policy has (none: no rules)."""

    cases: list[Case]
    rules: list[int] = field(default_factory=list)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--machine", default="opteron-6164he")
    words.add_argument("--paper", action="store_true", help="ways of the paper, too (minutes)")
    words.add_argument(
        "--others", type=Path, help="only judge by these observations of the machine (profile -o)"
    )
    words.add_argument("--into", type=Path, help="a document with marks for the tables")
    wanted = words.parse_args()
    tables = {path.stem: read(path) for path in sorted(OBSERVATIONS.glob("*.parquet"))}
    if wanted.others is not None:
        for line in others(wanted.machine, tables[wanted.machine], read(wanted.others)):
            print(line)
        return
    study = [HEAD]
    for line in variations(wanted.machine, tables[wanted.machine], wanted.paper):
        study.append(line)
        print(line, flush=True)
    carried = [CARRIED_HEAD]
    for line in carried_over(tables):
        carried.append(line)
        print(line, flush=True)
    losing = [MISSED_HEAD]
    for line in missed(wanted.machine, tables[wanted.machine]):
        losing.append(line)
        print(line, flush=True)
    if wanted.into is not None:
        put_between_marks(wanted.into, "scripts/policy_study.py, missed", "\n".join(losing))
        put_between_marks(wanted.into, "scripts/policy_study.py", "\n".join(study))
        put_between_marks(wanted.into, "scripts/policy_study.py, carried", "\n".join(carried))


def variations(machine: str, table: ObservationTable, paper: bool) -> Iterator[str]:
    """Rows of the study proper: one machine, one thread count."""
    table = of_threads(table, TRAINED_WITH)

    def line(name: str, settings: LearningSettings, samples: int) -> str:
        return row(name, _periods(samples), leave_one_out(machine, table, settings, samples))

    for name, settings in SETTINGS.items():
        yield line(name, settings, 0)
    kin = judged_on(machine, table, without_kin(machine, table), OURS, 0)
    yield row("kindred families left out, too", _periods(0), kin)
    for samples in SAMPLES:
        yield line("**default**", OURS, samples)
    for name, settings in PAPERS.items() if paper else ():
        yield line(name, settings, 1)


def carried_over(tables: Mapping[str, ObservationTable]) -> Iterator[str]:
    """Rows of policies used where they were not learned: other thread counts, other machines."""
    for learned_on, source in tables.items():
        train = of_threads(source, TRAINED_WITH)
        for machine, table in tables.items():
            trained = f"`{learned_on}`, {TRAINED_WITH} threads"
            counts = sorted(set(table.threads.tolist()))
            for threads in counts if machine == learned_on else (TRAINED_WITH,):
                judged = of_threads(table, threads)
                cases = judged_on(machine, judged, learning(learned_on, train, OURS), OURS, 0)
                yield row(trained, f"`{machine}`, {threads} threads", cases)
            if machine == learned_on and len(counts) > 1:
                yield from all_counts(machine, table)


def others(machine: str, shipped: ObservationTable, judged: ObservationTable) -> Iterator[str]:
    """Rows of thread counts of which no observations are shipped."""
    yield CARRIED_HEAD
    for threads in sorted(set(judged.threads.tolist())):
        learner = learning(machine, of_threads(shipped, TRAINED_WITH), OURS)
        cases = judged_on(machine, of_threads(judged, threads), learner, OURS, 0)
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
    for learned_with, known, settings in (
        (f"{TRAINED_WITH} threads", train, OURS),
        (f"{TRAINED_WITH} threads, one answer for all", train, replace(OURS, other_counts=False)),
        (f"{', '.join(map(str, more))} threads", several, OURS),
        (f"{', '.join(map(str, counts))} threads", table, OURS),
    ):
        judged = judged_on(machine, table, learning(machine, known, settings), settings, 0)
        yield row(f"`{machine}`, {learned_with}", f"`{machine}`, all four", judged)


def missed(machine: str, table: ObservationTable) -> Iterator[str]:
    """Rows of the cases that lose more than a tie against the best hint, and why."""
    matches = BestMatches(machine_topology(machine))
    learn, _ = learning(machine, of_threads(table, TRAINED_WITH), OURS)
    learn = functools.cache(learn)
    counts = sorted(set(table.threads.tolist()))
    cases, _ = judge(table, counts, learn, matches, OURS.warmup, 0)
    for case in sorted(cases, key=lambda case: -case.regret):
        if case.right_hint:
            continue
        where, subject = case.affinities, case.subject
        said = reasons(learn(subject.program), table, subject, matches)
        yield (
            f"| `{subject.program}` | {subject.threads} | {case.regret:.1%} "
            f"| {where['autofinity']} | {where['best_hint']} | {said} |"
        )


def reasons(
    policy: RulePolicy, table: ObservationTable, subject: Subject, matches: BestMatches
) -> str:
    """Which rules said what, with the values that they looked at."""

    def look(hint: Hint) -> Mapping[str, float]:
        affinity = matches(subject.threads, hint)
        return behaviour_seen(table, subject, affinity, OURS.warmup, 0)

    start = look(DISTRIBUTED)
    hint, words = reason(policy, start)
    second = policy.second_after(hint)
    if second is not None:
        hint, again = reason(second.policy, second.values(start, look(second.sampled_in)))
        words = f"{words}; {again}"
    better = policy.at(hint, subject.threads, matches.cores)
    return words if better == hint else f"{words}; {better} with {subject.threads} threads"


def reason(policy: RulePolicy, sample: Mapping[str, float]) -> tuple[Hint, str]:
    """The answer of one look, and the conditions and values behind it."""
    values = values_of(policy, sample)
    rule = fired(policy, values)
    hint = policy.default if rule is None else policy.rules[rule].hint
    asked = {c.counter for rule in policy.rules for c in rule.conditions}
    seen = ", ".join(f"{name} {values[name]:.3f}" for name in sorted(asked))
    if rule is None:
        return hint, f"no rule holds ({seen}): {hint}"
    why = " and ".join(condition_text(condition) for condition in policy.rules[rule].conditions)
    return hint, f"{why} ({seen}): {hint}"


def of_threads(table: ObservationTable, threads: int) -> ObservationTable:
    return table.take(table.threads == threads)


def learning(
    machine: str, table: ObservationTable, settings: LearningSettings
) -> tuple[Learn, list[int]]:
    """Leaves the judged program out; the list gets the number of rules of each policy."""
    rules: list[int] = []
    return leaving_out(table, _learner(machine, settings, rules)), rules


def _learner(
    machine: str, settings: LearningSettings, rules: list[int]
) -> Callable[[ObservationTable], RulePolicy]:
    matches = BestMatches(machine_topology(machine))
    hints_of = hints_on(matches, settings.leeway)

    def learn(others: ObservationTable) -> RulePolicy:
        policy = learn_policy(others, settings, hints_of, {}, matches).policy
        rules.append(len(policy.rules) + (len(policy.second.policy.rules) if policy.second else 0))
        return policy

    return learn


def without_kin(machine: str, table: ObservationTable) -> tuple[Learn, list[int]]:
    """Leaves all programs out whose family shares a word with that of the judged one."""
    suite = load_suite(HERE / "training" / "suite.toml")
    words = {name: set(spec.family.split("-")) for name, spec in suite.programs.items()}
    rules: list[int] = []
    learn = _learner(machine, OURS, rules)

    def without(program: str) -> RulePolicy:
        kin = [other for other in words if words[other] & words[program]]
        return learn(table.take(~np.isin(table.program.text().astype(str), kin)))

    return without, rules


def leave_one_out(
    machine: str, table: ObservationTable, settings: LearningSettings, samples: int
) -> Judged:
    return judged_on(machine, table, learning(machine, table, settings), settings, samples)


def judged_on(
    machine: str,
    table: ObservationTable,
    learner: tuple[Learn, list[int]],
    settings: LearningSettings,
    samples: int,
) -> Judged:
    """Every program of `table` by a policy that has not seen it."""
    match = BestMatches(machine_topology(machine))
    learn, rules = learner
    counts = sorted(set(table.threads.tolist()))
    cases, _ = judge(table, counts, learn, match, settings.warmup, samples)
    return Judged(cases, rules)


def row(first: str, second: str, judged: Judged) -> str:
    """One line of a table."""
    summary = summarise(judged.cases)
    return " | ".join(
        (
            f"| {first}",
            second,
            f"{summary.wins} of {summary.interesting}",
            f"{summary.best_hint_ratio:.3f} {interval(judged.cases, 'best_hint')}",
            f"{summary.oracle_ratio:.3f} {interval(judged.cases, 'oracle')}",
            f"{summary.regret_median:.1%}",
            f"{summary.regret_max:.1%}",
            f"{min(judged.rules)}-{max(judged.rules)} |" if judged.rules else "- |",
        )
    )


def _periods(samples: int) -> str:
    return {0: "the whole run", 1: "1 period"}.get(samples, f"{samples} periods")


def interval(cases: list[Case], column: str) -> str:
    """95 % of the geometric mean, by drawing programs with all their cases."""
    logs: dict[str, list[float]] = {}
    for case in cases:
        logs.setdefault(case.subject.program, []).append(math.log(case.against(column)))
    sums = np.array([[sum(values), len(values)] for values in logs.values()])
    drawn = np.random.default_rng(1).integers(0, len(sums), (2000, len(sums)))
    totals = sums[drawn].sum(axis=1)
    low, high = np.exp(np.quantile(totals[:, 0] / totals[:, 1], [0.025, 0.975]))
    return f"({low:.3f}-{high:.3f})"


if __name__ == "__main__":
    main()
