"""Settings of learning that know what a machine, by its name, counts of other cores' caches."""

from __future__ import annotations

from dataclasses import replace

from autofinity.learning.settings import LearningSettings
from autofinity.linux.event_tables import cross_core_events, event_table, this_cpu
from autofinity.model.cpu import Cpu


def on_machine(settings: LearningSettings, machine: str) -> LearningSettings:
    """The settings, with the counters of other cores' caches that this machine has.

    A machine whose CPU is not known (a topology alone, a file without `cpu`) has none. Raises
    `TopologyError` for a machine file that is bad.
    """
    cpu = _cpu_of(machine)
    counted = () if cpu is None else tuple(cross_core_events(event_table(cpu)))
    return replace(settings, cross_core=counted)


def _cpu_of(machine: str) -> Cpu | None:
    if machine == "host":
        return this_cpu()
    from autofinity.sim.preset import load_preset, preset_names

    if machine in preset_names() or machine.endswith(".toml"):
        return load_preset(machine).cpu
    return None
