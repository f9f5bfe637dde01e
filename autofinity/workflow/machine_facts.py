"""Facts of a machine by its name, for learning and evaluation."""

from __future__ import annotations

import functools

from autofinity.model.facts import FactsOf, Speeds, facts_of
from autofinity.workflow.backends import machine_topology


def facts_on(machine: str) -> FactsOf:
    """Thread count → facts of a preset, a machine file, a synthetic topology or the host.

    Unknown facts of the machine are NaN. Raises `TopologyError`.
    """
    from autofinity.sim.preset import load_preset, preset_names
    from autofinity.sim.speeds import facts_of_machine

    if machine in preset_names() or machine.endswith(".toml"):
        return facts_of_machine(load_preset(machine))
    return functools.partial(facts_of, machine_topology(machine), Speeds())
