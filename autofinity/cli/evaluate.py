"""`autofinity evaluate`: judge a policy on programs it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import click

from autofinity.cli.evaluate_across import judge_across, say_left_out
from autofinity.cli.given_options import given_options, refuse_options
from autofinity.cli.help import Command
from autofinity.cli.html_page import keep_page
from autofinity.cli.interruption import keeps_results
from autofinity.cli.options.html import html_option
from autofinity.cli.options.json import json_option
from autofinity.cli.options.learning import learning_options
from autofinity.cli.options.profiling import (
    ProfilingOptions,
    profiling_options,
    thread_counts,
    wanted_by_options,
)
from autofinity.cli.page import print_table
from autofinity.cli.printer import say, say_json
from autofinity.cli.progress import Terminal
from autofinity.learning.settings import LearningSettings
from autofinity.model.errors import UsageError

if TYPE_CHECKING:
    from autofinity.workflow.evaluate import Evaluated


@click.command(
    "evaluate",
    cls=Command,
    more=(
        "--latencies --page-size --suite --affinities --period --jobs --work --metric "
        "--train-threads"
    ),
)
@profiling_options
@learning_options("evaluate")
@click.option(
    "--threads",
    "-t",
    default=None,
    help="Thread counts to judge at.  [default: those of the observations, or 8]",
)
@click.option(
    "--train-threads",
    default=None,
    help="Thread counts to learn from.  [default: all; with --paper 8]",
)
@click.option(
    "--policy",
    metavar="POLICY",
    default=None,
    help="Judge this policy (a file, or the name of a shipped one) on the suite instead of leaving "
    "one program out.",
)
@click.option(
    "--observations",
    type=click.Path(path_type=Path),
    default=None,
    help="Judge by these observations of `profile` (folder or file); none: profile, even where "
    "observations are shipped.",
)
@html_option
@json_option
def command(
    threads: str | None,
    train_threads: str | None,
    policy: str | None,
    observations: Path | None,
    html: Path | None,
    as_json: bool,
    settings: LearningSettings,
    **options: Unpack[ProfilingOptions],
) -> None:
    """Judge a policy on programs it has not seen.

    Each program is left out in turn. A policy learned from the others gets the program's sample in
    the spread affinity. The program then reruns in the chosen affinity, or switches while it
    runs. Baselines are packed, spread, the OS's scheduler, compact, random, the best of the
    eight hints and the oracle (the best affinity profiled), in time and energy.

    Shipped observations of the machine are used, unless an option changes how programs are
    profiled. With --machine any, a policy for any machine is judged on each observed machine.
    """
    if policy is not None:
        refuse_options(_OF_LEARNING, "--policy is judged as it is, and nothing is learned")
    if options["machine"] == "any":
        _refuse_runs(observations, policy)
        work = None
        if policy is None:
            work = wanted_by_options(options, ()).work
            keeps_results()
        judge_across(settings, observations, policy, work, html, as_json=as_json)
        return
    from autofinity.workflow.backends import machine_topology
    from autofinity.workflow.policies import named_policy

    if observations not in (None, _NONE):
        refuse_options(_PROFILING, "--observations says what to judge by, and nothing is profiled")
    learn_at = () if train_threads is None else thread_counts(train_threads, "--train-threads")
    wanted = wanted_by_options(options, thread_counts(threads) if threads is not None else ())
    machine_topology(wanted.machine)  # wrong names are refused before the slow imports
    if policy is not None:
        named_policy(policy)
    from autofinity.workflow.evaluate import evaluate

    observations, before_runs = _judged_by(observations, wanted.machine)
    if observations is None or policy is None:
        keeps_results()
    done = evaluate(
        wanted,
        settings,
        train_threads=learn_at,
        policy=policy,
        observations=observations,
        before_runs=before_runs,
        reporter=Terminal(),
    )
    _say(done, wanted.machine, policy, as_json=as_json)
    if html is not None:  # last: a page that cannot be written does not take the result along
        _keep_page(html, wanted.machine, done, policy)


def _refuse_runs(observations: Path | None, policy: str | None) -> None:
    """Raise `UsageError` for options of runs, which `--machine any` never makes."""
    refuse_options(
        (*_OF_RUNS, *(("work",) if policy else ())),
        "--machine any judges by observations and makes no runs",
    )
    if observations == _NONE:
        raise UsageError(
            "--machine any judges by observations and makes no runs: got --observations none, "
            "expected a folder of files, or nothing for the shipped ones"
        )


def _judged_by(observations: Path | None, machine: str) -> tuple[Path | None, str]:
    """The observations to judge by (None: runs are made), and a line to say before runs."""
    from autofinity.workflow.observations import shipped_observations

    if observations is not None:
        return None if observations == _NONE else observations, ""
    known, before_runs = shipped_observations(machine), ""
    if known is None and not given_options(("affinities",)):
        before_runs = f"no observations of {machine} are shipped: {_PROFILES}"
    return None if _says_how_to_profile() else known, before_runs


def _say(done: Evaluated, machine: str, policy: str | None, *, as_json: bool) -> None:
    from autofinity.report import evaluation_table
    from autofinity.report.evaluation_legend import legend

    if as_json:
        say_json(evaluation_table.as_json(done.cases, done.verdict, done.skipped))
        return
    title = f"{machine}: ms of the region of interest; oracle of {done.affinities} affinities"
    print_table(evaluation_table.table(done.cases, title))
    if done.cases:
        for line in legend(done.cases, done.affinities, policy):
            say(line)
    for sentence in evaluation_table.sentences(done.verdict):
        say(sentence)
    say_left_out(done.skipped)


_NONE = Path("none")
_PROFILES = (
    "it is profiled now, which may take an hour; Ctrl-C keeps what is done. Shorter: "
    "--affinities hints, or --observations FILE with observations of `profile`"
)


def _keep_page(path: Path, machine: str, done: Evaluated, policy: str | None) -> None:
    from autofinity.evaluation.seed_spread import regret_spread
    from autofinity.report.evaluation_page import evaluation_sections
    from autofinity.workflow.backends import machine_topology

    spreads = [regret_spread(done.judged, case) for case in done.cases]
    topology = machine_topology(machine)
    programs = len({case.workload.program for case in done.cases})
    judged = f"judged by {policy}" if policy else "that the policy has not seen"
    keep_page(
        path,
        f"Evaluation on {machine}",
        f"{len(done.cases)} cases of {programs} programs {judged}; times are of the "
        f"region of interest, the oracle is the best of {done.affinities} affinities.",
        evaluation_sections(
            *(done.cases, spreads, done.verdict, done.skipped, topology),
            *(done.judged, done.policies),
        ),
    )


_PROFILING = ("latencies", "page_size", "sizes", "affinities", "period_us", "jobs", "on")
"""Parameters of profiling that shipped observations fix."""
_OF_LEARNING = ("train_threads", "metric")
"""Parameters that choose how policies are learned."""
_OF_RUNS = (*_PROFILING, "suite_path", "programs", "threads", "train_threads")
"""Parameters that choose the runs of one machine."""


def _says_how_to_profile() -> bool:
    """Whether the command line has an option of profiling that the shipped observations fix."""
    from autofinity.workflow.observations import is_shipped_suite

    suite = click.get_current_context().params["suite_path"]
    return bool(given_options((*_PROFILING, "work"))) or not is_shipped_suite(suite)
