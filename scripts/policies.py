"""Remake the shipped policies from the shipped observations, and their figures.

    python scripts/policies.py [MACHINE…] [--threads N…] [--root DIR] [--work DIR]

Makes the policy for any machine first, then each machine's own policy (default: every machine with
a file in data/observations), and the paper's policy for the papers' machines and three of today's.
Commands of autofinity do the same:

    data/observations/*.parquet ─► rules ─► policies/any-machine.json
                                └► evaluate, leaving one program out ─┐
    data/observations/M.parquet ─► rules ─► policies/M.json           ├► policies/README.md
                                ├► evaluate, leaving one program out ─┤
                                ├► rules --paper ─► policies/M.paper.json
                                └► evaluate --paper ──────────────────┘

A machine's own policy is shipped where it does better than the one for any machine on programs that
it has not seen, and not worse with thread counts that it has not seen either, by more than those
cases can show (WORTH); elsewhere the file is removed. It is learned from all thread counts that
were profiled on the machine, or from those of `--threads`. From one count none is shipped: how many
sockets a hint takes depends on the count. The paper's is learned from one count, as in the paper:
8, or the lowest where 8 was not profiled. All are judged with all thread counts. The paper's policy
is shipped whatever its results: it is the baseline of ours, and never a default. `make
observations` makes the observations.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autofinity.evaluation.cases import Case, Summary, summarise
from autofinity.evaluation.verdict import verdict_of
from autofinity.learning.settings import PAPER, LearningSettings
from autofinity.model.policy import RulePolicy
from autofinity.policy.files import save
from autofinity.policy.shipped import ANY_MACHINE, PAPERS_END
from autofinity.report import evaluation_table, markdown
from autofinity.report.marked import put_between_marks
from autofinity.store.observations import read
from autofinity.workflow.evaluate import Evaluated, evaluate
from autofinity.workflow.observations import ANY, thread_counts_of
from autofinity.workflow.several_machines import evaluate_across, rules_of_machines
from autofinity.workflow.train import rules_of_observations
from autofinity.workflow.wanted import wanted_on

HERE = Path(__file__).resolve().parents[1]
FIRST = "opteron-6164he"  # the paper's machine
BY_PAPER = (
    *(FIRST, "xeon-x7550", "altix-450", "opteron-6386", "xeon-e5-2650"),  # of the five papers
    *("epyc-9654", "xeon-8480", "ampere-altra"),
)
PAPERS_THREADS = 8
"""Moore & Childers, section 3.1: programs run with 8 threads to gather training data."""
WORTH = 0.002
"""Least difference, as a share of the best hint, between a machine's own policy and that for any
machine: a few dozen cases cannot show less, and a policy learned on one machine only carries over
less well to other programs (the public kernels)."""
HEAD = (
    "| policy | machine | learned from | rules | judged with | interesting cases won "
    "| of the best hint | of the oracle | median regret | worst |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("machines", nargs="*", metavar="MACHINE")
    words.add_argument("--threads", type=int, nargs="*", default=(), help="learn from these counts")
    words.add_argument("--root", type=Path, default=HERE, help="where data/ and policies/ are")
    words.add_argument("--work", type=Path, default=HERE / "build" / "policies")
    wanted = words.parse_args()
    wanted.work.mkdir(parents=True, exist_ok=True)
    anywhere = make_for_any(wanted.root, wanted.work)
    for machine in wanted.machines or observed(wanted.root):
        make(machine, wanted.threads, wanted.root, wanted.work, anywhere[machine])
        if machine in BY_PAPER:
            make_by_paper(machine, wanted.root, wanted.work)
    readme = wanted.root / "policies" / "README.md"
    put_between_marks(readme, "scripts/policies.py", figures(wanted.root, wanted.work, readme))
    print(f"figures kept in {readme}")


def observed(root: Path) -> list[str]:
    """Machines with shipped observations, the paper's first."""
    names = sorted(path.stem for path in (root / "data" / "observations").glob("*.parquet"))
    return sorted(names, key=lambda name: name != FIRST)


def make_for_any(root: Path, work: Path) -> dict[str, Summary]:
    """Make and evaluate the policy for any machine: its results on each, without the judged
    program.
    """
    folder, path = root / "data" / "observations", root / "policies" / f"{ANY_MACHINE}.json"
    learned = rules_of_machines(folder)
    save(learned.policy, path)
    print(f"{path.name}: {len(learned.policy.rules)} rules", flush=True)
    judged = evaluate_across(observations=folder, left_out=("program",))["program"]
    cases = [case for own, _ in judged.values() for case in own]
    document = evaluation_table.as_json(cases, verdict_of(cases), ())
    evaluation_of(work, path).write_text(json.dumps({"threads": "all", **document}))
    return {machine: summarise(own) for machine, (own, _) in judged.items()}


def make(machine: str, threads: Sequence[int], root: Path, work: Path, anywhere: Summary) -> None:
    """Make and evaluate the policy of one machine; keep it only where it is better than the policy
    for any machine.
    """
    path = root / "policies" / f"{machine}.json"
    policy, judged = learned_and_judged(machine, threads, root, work, path, LearningSettings())
    own = judged.verdict.restart
    print(f"  own {told(own)}; that for any machine {told(anywhere)}")
    better = own.best_hint_ratio > anywhere.best_hint_ratio + WORTH
    other = with_other_counts(machine, root, work) if better else None
    if other is not None:
        print(f"  own with thread counts that it was not learned from {told(other)}")
    if other is not None and other.best_hint_ratio > anywhere.best_hint_ratio - WORTH:
        keep(policy, judged, path, work)
    else:
        path.unlink(missing_ok=True)


def with_other_counts(machine: str, root: Path, work: Path) -> Summary | None:
    """Results of policies that have seen neither the program nor the thread count; None where one
    count was profiled.
    """
    observations = root / "data" / "observations" / f"{machine}.parquet"
    profiled = thread_counts_of(read(observations))
    if len(profiled) < 2:
        return None
    cases: list[Case] = []
    for count in profiled:
        others = tuple(other for other in profiled if other != count)
        wanted = wanted_on(machine, threads=(count,), work=work)
        cases += evaluate(wanted, train_threads=others, observations=observations).cases
    return summarise(cases)


def make_by_paper(machine: str, root: Path, work: Path) -> None:
    """Make and evaluate the policy of one machine by the paper's method."""
    path = root / "policies" / f"{machine}{PAPERS_END}.json"
    policy, judged = learned_and_judged(machine, (PAPERS_THREADS,), root, work, path, PAPER)
    print(f"  the paper's {told(judged.verdict.restart)}")
    keep(policy, judged, path, work)


def learned_and_judged(
    machine: str,
    threads: Sequence[int],
    root: Path,
    work: Path,
    path: Path,
    settings: LearningSettings,
) -> tuple[RulePolicy, Evaluated]:
    """A policy learned with the profiled counts among `threads` (by default with all counts, and
    with the lowest where none of `threads` was profiled), and judged with all profiled counts.
    """
    observations = root / "data" / "observations" / f"{machine}.parquet"
    profiled = thread_counts_of(read(observations))
    counts = tuple(count for count in profiled if count in (threads or profiled)) or profiled[:1]
    policy, notes = rules_of_observations(observations, settings, machine=machine, threads=counts)
    told_counts = ", ".join(map(str, counts))
    print(f"{path.name}: {len(policy.rules)} rules, learned with {told_counts} threads", flush=True)
    for note in notes:
        print(f"  {note}")
    wanted = wanted_on(machine, threads=profiled, work=work)
    return policy, evaluate(wanted, settings, train_threads=counts, observations=observations)


def keep(policy: RulePolicy, judged: Evaluated, path: Path, work: Path) -> None:
    """Save the policy in the folder that is shipped, and its figures where `figures` finds them."""
    save(policy, path)
    document = evaluation_table.as_json(judged.cases, judged.verdict, judged.skipped)
    counts = ",".join(str(count) for count in sorted({c.workload.threads for c in judged.cases}))
    evaluation_of(work, path).write_text(json.dumps({"threads": counts, **document}))


def told(summary: Summary) -> str:
    """A policy's results, in short."""
    won = f"{summary.wins} of {summary.interesting}"
    return f"won {won}, {summary.best_hint_ratio:.3f} of the best hint"


def evaluation_of(work: Path, policy: Path) -> Path:
    return work / f"{policy.stem}.evaluation.json"


def figures(root: Path, work: Path, readme: Path) -> str:
    """One row for each judged policy, the paper's last; of each kind the paper's machine first. A
    policy that was not judged now keeps its earlier row.
    """
    policies = sorted(
        (root / "policies").glob("*.json"),
        key=lambda path: (
            path.stem.endswith(PAPERS_END),
            path.stem != ANY_MACHINE,
            not path.stem.startswith(FIRST),
            path.stem,
        ),
    )
    before = readme.read_text().splitlines()
    rows = [HEAD]
    for policy in policies:
        judged = evaluation_of(work, policy)
        if judged.exists():
            rows.append(row(policy, judged))
        else:
            rows += [line for line in before if line.startswith(f"| `{policy.name}`")]
    return "\n".join(rows)


def row(policy: Path, evaluation: Path) -> str:
    learned, judged = json.loads(policy.read_text()), json.loads(evaluation.read_text())
    made_of: Any = learned["provenance"]
    summary: Any = judged["summary"]
    anywhere = made_of["machine"] == ANY
    counts = "all" if anywhere else ", ".join(map(str, made_of["threads"]))
    where = f"{len(made_of['machines'])} machines" if anywhere else f"`{made_of['machine']}`"
    second = learned["second"]
    rules = [len(learned["rules"]), *([] if second is None else [len(second["rules"])])]
    return markdown.row(
        f"`{policy.name}`",
        f"{where}, simulated",
        f"{len(made_of['observations']['programs'])} training programs, {counts} threads",
        " and ".join(map(str, rules)),
        f"{judged['threads'].replace(',', ', ')} threads",
        f"{summary['wins']} of {summary['interesting']}",
        known(summary["best_hint_ratio"], ".3f"),
        known(summary["oracle_ratio"], ".3f"),
        known(summary["regret_median"], ".1%"),
        known(summary["regret_max"], ".1%"),
    )


def known(value: float | None, form: str) -> str:
    """A figure, or a dash where no case gives one."""
    return "–" if value is None else format(value, form)


if __name__ == "__main__":
    main()
