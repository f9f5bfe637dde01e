"""`autofinity attach PID`: watch and place a program that runs already."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import click

from autofinity.cli.help import Command
from autofinity.cli.options.hint import HINT
from autofinity.cli.options.period import seconds
from autofinity.cli.options.pid import Pid
from autofinity.cli.options.run import fallback_of, fallback_option, policy_option
from autofinity.cli.options.site import spool_and_site, spool_option
from autofinity.cli.printer import complain
from autofinity.mechanisms.lists import names_by_rules, names_moving_pages
from autofinity.mechanisms.monitor import by_mechanism
from autofinity.mechanisms.registry import BY_POLICY, LIVE
from autofinity.model.affinity import Hint
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.errors import AutofinityError, UsageError
from autofinity.ports import Interval, Outcome
from autofinity.runtime.attaching import request_for
from autofinity.runtime.claims import live_runs
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.masks import Binding
from autofinity.runtime.policies import NO_POLICY, NO_POLICY_REMEDY, chosen_policy, read_policy
from autofinity.runtime.request import Request
from autofinity.runtime.restore import restore
from autofinity.runtime.sending import start_sending
from autofinity.runtime.watching import watch
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_file import default_path


@click.command(
    cls=Command, more="--fallback --period --mechanism --migrate-pages --keep-pages --arm --db"
)
@click.argument("pid", type=Pid())
@policy_option
@click.option(
    "--hint",
    type=HINT,
    default=None,
    help="Place by this hint at once, without a sample or a policy.",
)
@fallback_option
@click.option(
    "--threads",
    "-t",
    type=click.IntRange(min=1),
    default=None,
    help="Number of computing threads.  [default: those observed to compute]",
)
@click.option(
    "--bind",
    type=click.Choice(["llc", "core", "none"]),
    default="llc",
    show_default=True,
    help="llc: bind each thread to the CPUs of a last-level cache; core: to one CPU; none: "
    "decide, but bind nothing.",
)
@click.option(
    "--period",
    "sample_s",
    metavar="LENGTH",
    type=seconds,
    default="1s",
    show_default=True,
    help="Usual length of a sample; until the answer is sure, a sample lasts a fifth of this "
    "to twice as long.",
)
@click.option(
    "--every",
    "every_s",
    type=click.FloatRange(min=0, max=86_400, min_open=True),
    default=None,
    metavar="SECONDS",
    help="Check the program at this interval; sample and decide again when it has changed.",
)
@click.option(
    "--mechanism",
    type=click.Choice(tuple(LIVE)),
    default=BY_POLICY,
    show_default=True,
    help="Place by the policy, by sharing seen in page faults, or by both (unified).",
)
@click.option(
    "--migrate-pages",
    is_flag=True,
    help="Migrate pages to the threads that use them (with a --mechanism).",
)
@click.option(
    "--keep-pages",
    is_flag=True,
    help="Place threads only: no page moves, not even for a look.",
)
@click.option(
    "--arm",
    is_flag=True,
    help="Switch on kernel.numa_balancing while PID is watched, so that pages fault again (needs "
    "root).",
)
@click.option(
    "--restore", "put_back", is_flag=True, help="Restore the CPU masks when this command ends."
)
@click.option("--quiet", is_flag=True, help="Print nothing.")
@spool_option
def command(
    pid: int,
    policy: str | None,
    hint: Hint | None,
    fallback: Hint | None,
    threads: int | None,
    bind: Binding,
    sample_s: float,
    every_s: float | None,
    mechanism: str,
    migrate_pages: bool,
    keep_pages: bool,
    arm: bool,
    put_back: bool,
    quiet: bool,
    db: str | None,
) -> None:
    """Watch and place the running program PID, until it ends or Ctrl-C.

    The program continues either way. Its threads keep their new CPU masks, or get the old masks
    back with --restore. `autofinity restore PID` restores masks later.
    """
    spool, site = spool_and_site(db)
    path = (spool or default_path()).absolute()
    if keep_pages and migrate_pages:
        raise UsageError("--keep-pages and --migrate-pages are opposites; expected one of them")
    _refuse_misfits(policy, hint, fallback, bind, every_s, mechanism, migrate_pages)
    chosen = None if hint is not None else chosen_policy(policy)
    if hint is None and mechanism == BY_POLICY:
        fallback = fallback_of(fallback)
    with BehaviourDB.open(path) as database:
        request = replace(
            request_for(pid, database),
            threads=threads or 0,
            bind=bind,
            sample_s=sample_s,
            every_s=every_s or 0.0,
            policy=chosen.path if chosen is not None else None,
            policy_origin=chosen.origin if chosen is not None else "",
            mechanism=mechanism,
            hint=hint,
            fallback=fallback,
            migrate_pages=migrate_pages,
            keep_pages=keep_pages,
            arm=arm,
            site=site,
        )
    teller = _Teller(quiet)
    teller.say(f"watching {request.program} (pid {pid}); Ctrl-C leaves it running")
    _tell_policy(request, teller)
    _watch(request, path, teller, put_back=put_back)
    if site:
        start_sending(path, site)


def _refuse_misfits(
    policy: str | None,
    hint: Hint | None,
    fallback: Hint | None,
    bind: Binding,
    every_s: float | None,
    mechanism: str,
    migrate_pages: bool,
) -> None:
    """Raise `UsageError` for options that do not go together."""
    if migrate_pages and not LIVE[mechanism].moves_pages:
        raise UsageError(
            "--migrate-pages needs a mechanism; expected a --mechanism that moves pages: "
            f"{names_moving_pages()}"
        )
    if hint is not None and (
        policy or fallback or every_s or bind == "none" or mechanism != BY_POLICY
    ):
        raise UsageError(
            "--hint decides the placement; expected --hint without --policy, --fallback, "
            "--mechanism, --every and --bind none"
        )
    if (policy or every_s) and not LIVE[mechanism].by_rules:
        raise UsageError(
            "--policy and --every are for rules; expected them with a --mechanism that asks the "
            f"policy: {names_by_rules()}"
        )
    if fallback is not None and mechanism != BY_POLICY:
        raise UsageError("--fallback needs a policy; expected --fallback without --mechanism")


def _tell_policy(request: Request, teller: _Teller) -> None:
    """The policy that is asked, and why it decides nothing where it cannot be used."""
    if request.hint is None and request.mechanism == BY_POLICY:
        if request.policy is None:
            teller.say(f"{NO_POLICY}; {NO_POLICY_REMEDY}")
        else:
            teller.say(f"using the policy {request.policy}, {request.policy_origin}")
    if request.policy is None:
        return
    try:
        read_policy(request.policy)
    except AutofinityError as error:
        teller.say(f"the policy is not used: {error}; the program stays as the system places it")


def _watch(request: Request, path: Path, teller: _Teller, *, put_back: bool) -> None:
    """Watch the program until it ends or Ctrl-C."""
    pid = request.pid
    try:
        watch(request, by_mechanism, teller)
        teller.say("the program has ended")
    except KeyboardInterrupt:
        if not put_back:
            teller.say(f"no longer watched; `autofinity restore {pid}` restores its CPU masks")
    if put_back:
        _put_back(path, pid, teller)


def _put_back(path: Path, pid: int, teller: _Teller) -> None:
    with BehaviourDB.open(path) as database:
        for run in live_runs(database):
            if run.pid == pid:
                teller.say(f"CPU masks of {restore(database, run).done} threads are restored")


@dataclass(frozen=True, slots=True)
class _Teller:
    """Observer of the loop that reports to a person on stderr."""

    quiet: bool

    def say(self, line: str) -> None:
        """One line."""
        if not self.quiet:
            complain(line)

    def saw(
        self, before: LiveState, after: LiveState, interval: Interval, outcome: Outcome | None
    ) -> None:
        """One turn of the loop."""
        del interval
        for line in after.notes[len(before.notes) :]:
            self.say(line)
        for line in outcome.reasons if outcome else ():
            self.say(f"not bound: {line}")
        if _where(after) == _where(before):
            return
        placed, count = after.placed, len(after.placed.threads)
        at_once = before.phase == "watching" and after.phase == "sampling"
        if (after.phase == "settling" or at_once) and placed.hint is not None:
            self.say(f"{count} threads compute: sampled in {placed.hint.shown}")
        elif after.phase == "placed" and placed.cpus:
            cpus = format_cpu_list(placed.cpus)
            by = f"hint {placed.hint.shown}" if placed.hint else "by sharing"
            self.say(f"{by}: {count} threads on CPUs {cpus}")


def _where(state: LiveState) -> tuple[object, ...]:
    return state.phase, state.placed.threads, state.placed.hint, state.placed.cpus
