"""`autofinity simulate --policy`: a policy at work within one simulated run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from autofinity.cli.options.policy import named_policy

if TYPE_CHECKING:
    from autofinity.evaluation.in_run import InRun
    from autofinity.sim.spec import MachineSpec


def show_policy_at_work(
    spec: MachineSpec,
    trace: Path,
    threads: int,
    policy: str,
    period_us: float,
    seed: int,
    as_json: bool,
) -> None:
    """Start distributed, sample, decide and move within the run, and say what came of it."""
    from autofinity.evaluation.in_run import Sampling, run_in
    from autofinity.ports import RunRequest
    from autofinity.sim.machine import SimMachine

    result = run_in(
        SimMachine(spec),
        RunRequest(program=str(trace), threads=threads),
        named_policy(policy),
        Sampling(round(period_us * 1000)),
        seed,
    )
    click.echo(json.dumps(_document(result)) if as_json else _text(trace, spec, result))


def _document(result: InRun) -> dict[str, object]:
    decided_s = result.decided_at_s
    return {
        "roi_s": result.roi_s,
        "hints": [str(hint) for hint in result.hints],
        "decided_at_s": decided_s if decided_s == decided_s else None,
    }


def _text(trace: Path, spec: MachineSpec, result: InRun) -> str:
    where = " → ".join(map(str, result.hints))
    decided = (
        f"decided after {result.decided_at_s * 1e3:.3g} ms"
        if result.decided_at_s == result.decided_at_s
        else "it ended before a decision"
    )
    return (
        f"{trace.name} on {spec.name}: {result.roi_s * 1e3:.4g} ms, samples and moves included\n"
        f"threads were placed {where}; {decided}"
    )
