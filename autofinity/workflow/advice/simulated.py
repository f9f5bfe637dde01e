"""A captured program on a simulated machine, its threads where a model of the system puts them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from autofinity.mechanisms.autofinity import InRun
from autofinity.mechanisms.recipe import Setting
from autofinity.model.detection import AccessSampling
from autofinity.model.policy import RulePolicy
from autofinity.policy.on_machine import on_machine
from autofinity.ports import RunRequest, Sensors
from autofinity.runtime.policies import NO_POLICY
from autofinity.runtime.undecided import why_undecided
from autofinity.sim.speeds import facts_of_machine, speeds_of
from autofinity.workflow.advice.look import look_at
from autofinity.workflow.advice.open_answer import open_answer
from autofinity.workflow.advice.seen import Seen, simulated_time, watched_s
from autofinity.workflow.simulate import DEFAULT_PERIOD_US, placed_crew

if TYPE_CHECKING:
    from autofinity.sim.machine import SimMachine

_COUNTED = ("dram_reads_local", "dram_reads_remote", "cycles", "cpu_clocks_halted")
_SECOND_S = DEFAULT_PERIOD_US / 1e6
"""Simulated time that stands for a second of a run: looks of seconds would outlast the program."""
_SAMPLED = AccessSampling(period=500, sample_ns=0.0)
"""Accesses that nobody pays for: a simulated machine shows them as they are."""


def seen_simulated(
    machine: SimMachine,
    trace: Path,
    policy: RulePolicy | None,
    asked: str,
    threads: int | None = None,
) -> Seen:
    """Watch the program of `trace` until the policy has answered. `asked` says which policy that
    is, or why there is none.

    Raises `TraceError`, `PlacementError`, `SimulationError`, and `CapabilityError` for a sampled
    trace, whose threads no scheduler can move.
    """
    crew = placed_crew(machine.spec, trace, threads)
    learned = policy
    if policy is not None:
        policy = on_machine(policy, facts_of_machine(machine.spec)(crew.room))
    setting = Setting(
        machine.topology,
        crew.computing,
        machine.clock_hz,
        paper_second_ns=round(_SECOND_S * 1e9),
        policy=policy,
        room=crew.room,
    )
    recipe = InRun(setting, bind="none")
    counters = tuple(dict.fromkeys((*recipe.sensors.counters, *_COUNTED)))
    detectors = (_SAMPLED,) if machine.topology.n_nodes > 1 else ()
    process = machine.start(
        RunRequest(str(trace), threads=crew.computing),
        None,
        Sensors(counters, detectors, reads_by_node=True),
    )
    start = recipe.begin(machine.topology, machine.topology.allowed, crew.computing)
    looked = look_at(process, recipe, start, machine.topology)
    watched = simulated_time(watched_s(looked.timeline))
    return Seen(
        program=trace.name,
        topology=machine.topology,
        available=machine.topology.allowed,
        policy=policy,
        asked=asked if policy is not None else NO_POLICY,
        state=looked.state,
        undecided=why_undecided(looked.state, crew.room, watched)
        or open_answer(policy, looked.state.samples.start, "the sample"),
        threads=crew.computing,
        room=crew.room,
        learned=learned,
        kind=machine.spec.name,
        computing=looked.computing,
        cpus=looked.cpus,
        memory=looked.memory,
        touched=looked.touched,
        timeline=looked.timeline,
        second_s=_SECOND_S,
        node_gbs=speeds_of(machine.spec).node_gbs,
        exact_reads=True,
        smt_slowdown=machine.spec.core.smt_slowdown,
    )
