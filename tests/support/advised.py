"""Programs in the form that advice gets, made by hand."""

from __future__ import annotations

from made_up_machine import machine

from autofinity.model.affinity import PACKED
from autofinity.model.counters import Behaviour
from autofinity.model.memory import MemoryByNode
from autofinity.model.policy import Decision, RulePolicy
from autofinity.model.topology import OsIndex
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.samples import Samples
from autofinity.workflow.advice.seen import Seen

TWO_NODES = machine(packages=2, llcs=1, cores=4)
ONE_NODE = machine(packages=1, llcs=2, cores=2)
MIB = 1 << 20


def seen(**changes: object) -> Seen:
    """Four threads, two on each of two nodes, undecided, unless `changes` say otherwise."""
    values: dict[str, object] = {
        "program": "app",
        "topology": TWO_NODES,
        "available": TWO_NODES.allowed,
        "policy": None,
        "asked": "there is none",
        "state": LiveState(),
        "undecided": "there is no policy",
        "threads": 4,
        "cpus": tuple(map(OsIndex, (0, 1, 4, 5))),
        "memory": MemoryByNode((64 * MIB, 64 * MIB)),
        "numa_balancing": "0",
    }
    return Seen(**{**values, **changes})  # type: ignore[arg-type]


def sampled(hint: object = PACKED, **rates: float) -> dict[str, object]:
    """Changes for a program whose sample the policy has answered with a hint, by its default."""
    policy = RulePolicy(tuple(rates), {}, (), hint)  # type: ignore[arg-type]
    decision = Decision(policy.default, None, float("inf"), None)
    state = LiveState(phase="placed", samples=Samples(Behaviour(rates)), decision=decision)
    return {"policy": policy, "state": state, "undecided": ""}
