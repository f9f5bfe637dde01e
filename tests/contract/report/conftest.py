"""Pages that commands wrote in real runs, with names that are meant to break out of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from commands import autofinity
from few_observations import FEW_ON, write_few
from memory_programs import initialised_by_one
from own_database import KEY
from sim_programs import kept

from autofinity.model.affinity import HINTS, PACKED, Affinity
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.model.timeline import TimelineStep
from autofinity.policy.files import save
from autofinity.resources import shipped
from autofinity.runtime.policies import digest_of
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.observations import read, write_one

HOSTILE = "<img src=x onerror=alert(1)>"
"""A name that would load something, and run a script."""


def evaluate(folder: Path, page: Path) -> None:
    table = read(write_few(folder / "few.parquet"))
    first, *others = table.program.names  # the name sorts before letters, as that of cg does
    assert first == "cg"
    hostile = replace(table, program=replace(table.program, names=(HOSTILE, *others)))
    write_one(hostile, folder / "hostile.parquet", packed=False)
    autofinity(
        *("evaluate", "--machine", FEW_ON, "--policy", "any-machine"),
        *("--observations", str(folder / "hostile.parquet"), "--html", str(page)),
    )


def explain_policy(folder: Path, page: Path) -> None:
    rules = (
        Rule((Condition(HOSTILE, 1.0, 2.0),), PACKED),
        Rule((Condition("b", 0.0, 5.0),), HINTS[2]),
    )
    about = {"machine": "opteron-6164he", "threads": [4, 8], HOSTILE: HOSTILE}
    save(RulePolicy((HOSTILE, "b"), {}, rules, HINTS[0], about), folder / "policy.json")
    autofinity(
        *("explain", str(folder / "policy.json"), "--sample", "b=3"),
        *("--html", str(page)),
    )


def explain_run(folder: Path, page: Path) -> None:
    policy = shipped("policies", "opteron-6164he.json")
    first = {"instructions": 4.1e8, "llc_requests": 6e6, "llc_misses": 1e6}
    second = {"instructions": 4.9e8, "llc_requests": 5e6, "llc_misses": 4e5}
    with BehaviourDB.open(folder / "runs.db") as database:
        run = database.begin_run(
            *(KEY, f"/opt/{HOSTILE}", 1, "hardware counters"),
            policy=digest_of(policy),
            policy_path=str(policy),
            allowed="0",
        )
        for occupancy, sample in (([[1], [1]], first), ([[2]], second)):
            affinity = Affinity.of(occupancy)
            database.remember_observation(run, KEY, 2, affinity, "m", sample, "hardware counters")
        counts = {"dram_reads_node_0": 3e6, "dram_reads_node_1": 1e6, "task_clock_ns": 5e8}
        database.looks.remember(
            run,
            [
                TimelineStep(at * 10**9, (at + 1) * 10**9, {0: counts, 1: counts}, place=place)
                for at, place in enumerate(("", "{1}{1}", "{2}"))
            ],
        )
        database.update_run(
            *(run,), threads=2, hint=PACKED, bound=2, cpus="0", sample=first, probe=second,
            notes=HOSTILE, ended=True,
        )  # fmt: skip
    autofinity("explain", "last", "--db", str(folder / "runs.db"), "--html", str(page))


def advise(folder: Path, page: Path) -> None:
    trace = kept(initialised_by_one(4, 600, 6), folder / HOSTILE)
    autofinity("advise", trace, "-t", "4", "--html", str(page))


def advise_curve(folder: Path, page: Path) -> None:
    autofinity(
        *("advise", "--machine", "opteron-6164he", "--curve", "2,4", "--program", "prodcons"),
        *("--size", "tiny", "--work", str(folder / "work"), "--html", str(page)),
    )


def detect(folder: Path, page: Path) -> None:
    capture = ("capture", "--program", "prodcons", "--size", "tiny", "--threads", "4")
    autofinity(*capture, "--output", str(folder / "traces"))
    (trace,) = (folder / "traces").glob("prodcons-*")
    named = trace.rename(folder / HOSTILE)
    autofinity("detect", str(named), "--html", str(page))


def compare(folder: Path, page: Path) -> None:
    autofinity(
        *("compare", "--machine", "opteron-6164he", "--threads", "4", "--size", "tiny"),
        *("--program", "prodcons", "--mechanism", "autofinity", "--seeds", "2"),
        *("--repeats", "1", "--work", str(folder / "work"), "--html", str(page)),
    )


MAKERS: dict[str, Callable[[Path, Path], None]] = {
    "evaluate": evaluate,
    "explain-policy": explain_policy,
    "explain-run": explain_run,
    "advise": advise,
    "advise-curve": advise_curve,
    "detect": detect,
    "compare": compare,
}


@pytest.fixture(scope="session")
def page_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The page of a name of `MAKERS`, made once."""
    made: dict[str, Path] = {}

    def page(name: str) -> Path:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            MAKERS[name](folder, folder / "page.html")
            made[name] = folder / "page.html"
        return made[name]

    return page
