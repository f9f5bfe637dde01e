"""`autofinity evaluate --machine any`: judge a policy for any machine on each observed machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.cli.html_page import keep_page
from autofinity.cli.page import print_table
from autofinity.cli.printer import say, say_json
from autofinity.cli.progress import Terminal
from autofinity.learning.settings import LearningSettings

if TYPE_CHECKING:
    from autofinity.evaluation.judge import Skipped
    from autofinity.report.across_table import Judged

_TITLES = {
    "nothing": "the given policy",
    "program": "one policy for any machine, learned without the program",
    "machine": "one policy for any machine, learned without the machine",
    "both": "one policy for any machine, learned without the machine and without the program",
}


def judge_across(
    settings: LearningSettings,
    observations: Path | None,
    policy: str | None,
    work: Path | None,
    html: Path | None,
    *,
    as_json: bool,
) -> None:
    """Judge this policy, or policies that are learned without the programs that judge them."""
    from autofinity.workflow.several_machines import evaluate_across

    found = evaluate_across(
        settings, observations=observations, policy=policy, work=work, reporter=Terminal()
    )
    _say(found, as_json=as_json)
    if html is not None:
        _keep_page(html, found)


def _say(found: Mapping[str, Judged], *, as_json: bool) -> None:
    from autofinity.report.across_table import across_json, across_table

    if as_json:
        say_json({unseen: across_json(judged) for unseen, judged in found.items()})
        return
    for unseen, judged in found.items():
        print_table(across_table(judged, _TITLES[unseen]))
    judged = next(iter(found.values()))
    for machine, (_, skipped) in judged.items():
        say_left_out(skipped, f"{machine}, ")


def say_left_out(skipped: Sequence[Skipped], on: str = "") -> None:
    """Say which cases are not judged, and why; `on` names their machine."""
    for missed in skipped:
        of = missed.workload
        say(f"left out: {on}{of.program}, {of.threads} threads: {missed.reason}", err=True)


def _keep_page(path: Path, found: Mapping[str, Judged]) -> None:
    from autofinity.report.evaluation_page import across_sections
    from autofinity.workflow.backends import machine_topology

    machines = dict.fromkeys(name for judged in found.values() for name in judged)
    topologies = {name: machine_topology(name) for name in machines}
    keep_page(
        path,
        "Evaluation of a policy for any machine",
        f"{len(machines)} machines: {', '.join(machines)}.",
        across_sections(found, _TITLES, topologies),
    )
