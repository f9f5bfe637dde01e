"""Facts of a machine by its name, for learning and evaluation."""

from __future__ import annotations

import functools

from autofinity.model.facts import FactsOf, Speeds, facts_of
from autofinity.workflow.backends import described_machine, machine_topology


def facts_on(machine: str) -> FactsOf:
    """Thread count → facts of a preset, a machine file, a synthetic topology or the host.

    Unknown facts of the machine are NaN. Raises `TopologyError`.
    """
    from autofinity.sim.speeds import facts_of_machine

    if (spec := described_machine(machine)) is not None:
        return facts_of_machine(spec)
    return functools.partial(facts_of, machine_topology(machine), Speeds())
