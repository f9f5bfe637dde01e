"""Looks over time at the runs that a page of a comparison shows, made once more and watched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from autofinity.evaluation.comparison import Comparison, MechanismCase, second_of, shown
from autofinity.evaluation.program_ratios import most_changed
from autofinity.evaluation.under_mechanism import SharedByMechanisms, UnderMechanism
from autofinity.evaluation.watched_run import BeforeAfter, Series, WatchedRun, WatchMechanism
from autofinity.mechanisms.registry import BASELINE, Entry
from autofinity.model.errors import AutofinityError, ClusterError
from autofinity.ports import Done, Pool
from autofinity.profiling.campaign import ReadyProgram
from autofinity.reporter import SILENT, Reporter
from autofinity.workflow.compare import Asked, comparison_of, machine_of, ready_programs
from autofinity.workflow.pools import pool_for


def series_of(
    asked: Asked,
    entries: Sequence[Entry],
    cases: Sequence[MechanismCase],
    reporter: Reporter = SILENT,
) -> Series:
    """Runs of each mechanism beside that of the operating system, of the program whose time the
    mechanism changes most, with the first seed. `cases` are those of `compared`, and stay as they
    are.

    Raises the errors of `pool_for`, and `ClusterError` when the pool cannot go on.
    """
    machine = machine_of(asked, SILENT)
    comparison = comparison_of(asked, machine, SILENT)
    programs = {each.name: each for each in ready_programs(asked, machine, SILENT)}
    wanted = {name: case for name, case in most_changed(shown(cases)).items() if name != BASELINE}
    watching = _Watching(comparison, programs, {entry.name: entry for entry in entries}, cases)
    with pool_for(asked.wanted, reporter) as pool:
        futures = {}
        for name, case in wanted.items():
            for key in watching.pair(case, name):
                if key not in futures:
                    futures[key] = watching.begin(pool, case, key)
        found: dict[str, BeforeAfter | str] = {}
        with reporter.progress("watch", len(wanted)) as done:
            for name, case in wanted.items():
                before, after = (_result(futures[key]) for key in watching.pair(case, name))
                found[name] = _both(case.program, before, after)
                done.step(f"{case.program} {name}")
    return found


@dataclass(frozen=True, slots=True)
class _Key:
    """A run that is watched."""

    mechanism: str
    program: str
    seed: int
    in_real_time: bool


class _Watching:
    """Runs that are begun; facts of a program are shared by all its runs."""

    def __init__(
        self,
        comparison: Comparison,
        programs: Mapping[str, ReadyProgram],
        entries: Mapping[str, Entry],
        cases: Sequence[MechanismCase],
    ) -> None:
        self._comparison, self._programs, self._entries = comparison, programs, entries
        self._cases = cases
        self._shared: dict[str, SharedByMechanisms] = {}

    def pair(self, case: MechanismCase, mechanism: str) -> tuple[_Key, _Key]:
        """The run under the operating system and that of a mechanism, with the program and seed of
        `case`; both are in real time where those of the mechanism are.
        """
        real = self._entries[mechanism].in_real_time and self._comparison.conditions.repeats > 1
        before, after = (
            _Key(each, case.program, case.seed, in_real_time=real) for each in (BASELINE, mechanism)
        )
        return before, after

    def begin(self, pool: Pool, case: MechanismCase, key: _Key) -> Future[Done[WatchedRun]]:
        """The run of a key from the pair of `case`."""
        program, entry = self._programs[case.program], self._entries[key.mechanism]
        if case.program not in self._shared:
            conditions = self._comparison.conditions_for(program)
            self._shared[case.program] = SharedByMechanisms(conditions)
        own = (each for each in self._cases if each.program == case.program)
        baseline = [each for each in own if each.mechanism == BASELINE]
        second_ns = second_of(baseline, self._comparison.conditions.paper_s)
        under = UnderMechanism(program, entry, entry.mapped_by, case.seed, second_ns)
        cpus = tuple(case.run.cpus) if case.run is not None else ()
        watch = WatchMechanism(under, cpus, key.in_real_time)
        return pool.submit(self._shared[case.program], watch)


def _both(program: str, before: WatchedRun | str, after: WatchedRun | str) -> BeforeAfter | str:
    if isinstance(before, str):
        return before
    return after if isinstance(after, str) else BeforeAfter(program, before, after)


def _result(future: Future[Done[WatchedRun]]) -> WatchedRun | str:
    try:
        return future.result().result
    except ClusterError:
        raise
    except AutofinityError as error:
        return str(error)
