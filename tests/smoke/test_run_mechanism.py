"""`run --mechanism`: who shares is seen from page faults, and sits together."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest
from live_masks import masks_of
from permitted import needs_two_cpus, skip_unless_touches_are_seen

from autofinity.mechanisms.lists import names_by_rules, names_live, names_moving_pages
from autofinity.mechanisms.registry import LIVE
from autofinity.model.topology import PU, OsIndex, Topology
from tests.support.topology_sysfs_tree import write_sysfs

type Runner = Any  # of conftest.py


@pytest.fixture
def _faults() -> None:
    skip_unless_touches_are_seen()


@pytest.mark.usefixtures("_faults")
@needs_two_cpus
def test_threads_that_share_pages_are_put_on_one_cpu_and_others_on_another(
    run: Runner, sharers: Path
) -> None:
    two = sorted(os.sched_getaffinity(0))[:2]

    def paired(pid: int) -> bool:
        main, *masks = masks_of(pid)
        return (
            len(masks) == 4
            and main == set(two)  # it does not compute
            and all(len(mask) == 1 for mask in masks)
            and masks[:2] == masks[2:]
            and masks[0] != masks[1]
        )

    options = ("--mechanism", "kmaf", "--bind", "core", "--migrate-pages")
    with run.lasting(*options, "--", sharers, "4", "300", preexec_fn=run.on_two_cpus) as process:
        assert run.eventually(lambda: paired(process.pid)), masks_of(process.pid)
        assert run.eventually(lambda: (seen := run.placed()) is not None and seen.threads == 4)
    assert run.eventually(lambda: not run.monitors_of(process.pid))
    notes = run.last().notes
    assert "one NUMA node: there is nowhere to move a page to" in notes or "pages follow" in notes


@pytest.mark.usefixtures("_faults")
@pytest.mark.parametrize(
    ("name", "most_mib"), [(name, {"spcd": 29, "unified": 26}.get(name, 25)) for name in LIVE]
)
def test_a_monitor_takes_no_more_memory_for_a_program_that_takes_much(
    run: Runner, sharers: Path, tmp_path: Path, name: str, most_mib: int
) -> None:
    """Pages follow, on a machine that looks as if it had a node for each CPU. `spcd` loads
    rustworkx for Edmonds' matching; `unified` is decider and mapper in one.
    """
    two = sorted(os.sched_getaffinity(0))[:2]
    nodes = tuple(OsIndex(node) for node in range(4))
    pus = tuple(PU(OsIndex(cpu), at, at, at, at, at) for at, cpu in enumerate(two))
    distances = tuple(tuple(10 if a == b else 20 for b in nodes) for a in nodes)
    seen = Topology("four nodes", "synthetic", pus, nodes, distances, frozenset(map(OsIndex, two)))
    env = run.env | {"AUTOFINITY_SYSFS": str(write_sysfs(tmp_path / "sys", seen))}
    pages = ("--migrate-pages",) if LIVE[name].moves_pages else ()
    command = ("--mechanism", name, *pages, "--", sharers, "4", "300", "8000")
    with run.lasting(*command, env=env, preexec_fn=run.on_two_cpus) as process:
        assert run.eventually(lambda: run.monitors_of(process.pid))
        time.sleep(3)  # some looks; fewer say less, and nothing wrong
        (monitor,) = run.monitors_of(process.pid)
        status = Path(f"/proc/{monitor}/status").read_text()
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
        assert int(peak.split()[1]) <= most_mib * 1024, peak


def test_a_mechanism_that_there_is_not_is_refused_with_those_that_there_are(run: Runner) -> None:
    done = run("--mechanism", "magic", "--", "true")
    assert done.returncode == 2
    assert f"expected {names_live()}\n".encode() in done.stderr


@pytest.mark.parametrize("words", [("--policy", "any-machine"), ("--every", "2")])
def test_rules_that_a_mechanism_does_not_ask_are_refused(
    run: Runner, words: tuple[str, ...]
) -> None:
    done = run("--mechanism", "kmaf", *words, "--", "true")
    assert done.returncode == 2
    expected = f"expected them with a --mechanism that asks the policy: {names_by_rules()}\n"
    assert expected.encode() in done.stderr
    assert run("--mechanism", "unified", *words, "--", "true").returncode == 0


def test_no_database_is_none_to_learn_from(run: Runner) -> None:
    done = run("--auto-rebuild", "--no-db", "--", "true")
    assert done.returncode == 2
    assert b"expected --auto-rebuild without --no-db\n" in done.stderr


@pytest.mark.parametrize("words", [(), ("--mechanism", "spcd")])
def test_pages_that_nobody_would_move_are_not_promised_to_follow(
    run: Runner, words: tuple[str, ...]
) -> None:
    done = run("--migrate-pages", *words, "--", "true")
    assert done.returncode == 2
    expected = f"expected a --mechanism that moves pages: {names_moving_pages()}\n"
    assert expected.encode() in done.stderr


def test_pages_are_not_kept_and_moved_at_once(run: Runner) -> None:
    done = run("--keep-pages", "--mechanism", "kmaf", "--migrate-pages", "--", "true")
    assert done.returncode == 2
    assert b"--keep-pages and --migrate-pages are opposites" in done.stderr
    assert b"expected one of them\n" in done.stderr


def test_a_dry_run_says_who_would_decide_and_switches_nothing_on(run: Runner) -> None:
    done = run("--dry-run", "--mechanism", "kmaf", "--migrate-pages", "--arm", "--", "true")
    assert done.returncode == 0
    said = b"kmaf: sharing between threads, seen in page faults; pages may follow; NUMA hinting"
    assert said + b" is switched on" in done.stdout
    assert b"nothing was started" in done.stdout
