"""`run --mechanism`: who shares is seen from page faults, and sits together."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from live_masks import masks_of

from autofinity.linux.watched_program import watch_touches
from autofinity.model.errors import CapabilityError

type Runner = Any  # of conftest.py


@pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="binding needs two CPUs; one is allowed here"
)
def test_threads_that_share_pages_are_put_on_one_cpu_and_others_on_another(
    run: Runner, sharers: Path
) -> None:
    try:
        watch_touches(["true"])
    except CapabilityError as error:
        pytest.skip(str(error))
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


def test_a_mechanism_that_there_is_not_is_refused_with_those_that_there_are(run: Runner) -> None:
    done = run("--mechanism", "magic", "--", "true")
    assert done.returncode == 2
    assert b"expected autofinity, kmaf, kmaf14, spcd or unified" in done.stderr


def test_pages_that_nobody_would_move_are_not_promised_to_follow(run: Runner) -> None:
    done = run("--migrate-pages", "--", "true")
    assert done.returncode == 2
    assert b"expected a --mechanism that moves pages: kmaf, kmaf14 or unified" in done.stderr


def test_a_dry_run_says_who_would_decide_and_switches_nothing_on(run: Runner) -> None:
    done = run("--dry-run", "--mechanism", "kmaf", "--migrate-pages", "--arm", "--", "true")
    assert done.returncode == 0
    said = b"kmaf: who shares with whom, by page faults; pages may follow; NUMA hinting is switched"
    assert said in done.stdout
    assert b"nothing was started" in done.stdout
