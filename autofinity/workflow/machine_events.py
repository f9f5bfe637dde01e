"""Settings of learning for the PMU of a machine, by the machine's name."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from autofinity.learning.settings import LearningSettings
from autofinity.linux.event_tables import all_encodings, cross_core_events, event_table, this_cpu
from autofinity.model.cpu import Cpu
from autofinity.model.errors import UsageError
from autofinity.sim.events import EVENTS, PAPER_EVENTS
from autofinity.workflow.backends import described_machine

_PAPERS = frozenset(PAPER_EVENTS)


def settings_on(
    settings: LearningSettings, machine: str, observed: Collection[str]
) -> LearningSettings:
    """The settings for this machine: with its counters of other cores' caches, and without rates of
    counters that it lacks. The paper's four counters are used where the settings request them, the
    machine has them all and they were `observed`.

    For a machine whose CPU is not known (a topology alone, a file without `cpu`), rates are of
    counters that some known PMU has. Raises `TopologyError` for a bad machine file, `UsageError`
    for a counter by name that only a simulator has: no run could ask a policy of it.
    """
    if unknown := _only_simulated() & {*(settings.counters or ())}:
        raise UsageError(
            f"counters {', '.join(sorted(unknown))}: no known PMU counts them, only a simulator; "
            "expected some of `autofinity counters OBS`"
        )
    cpu = cpu_of(machine)
    events = {} if cpu is None else event_table(cpu)
    if settings.selection == "paper" and settings.counters is None:
        known = events.keys() & set(observed) >= _PAPERS
        settings = replace(settings, counters=PAPER_EVENTS if known else None)
    if settings.features in ("rates", "both"):
        uncounted = EVENTS.keys() - events.keys() if events else _only_simulated()
        settings = replace(settings, uncounted=tuple(sorted(uncounted)))
    return replace(settings, cross_core=tuple(cross_core_events(events)))


def _only_simulated() -> frozenset[str]:
    return frozenset(EVENTS.keys() - {name for _, name in all_encodings()})


def cpu_of(machine: str) -> Cpu | None:
    """The CPU of this machine (`host`), a preset or a machine file; None where none is known.

    Raises `TopologyError` for a machine file that is bad.
    """
    if machine == "host":
        return this_cpu()
    spec = described_machine(machine)
    return None if spec is None else spec.cpu
