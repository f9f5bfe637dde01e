"""A program that others measured: decided on as a live sample is, from the counts in their file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from autofinity.linux.event_names import EventNames
from autofinity.linux.event_tables import this_cpu
from autofinity.linux.kernel_file import read_text
from autofinity.linux.numa_hinting import SYSCTL
from autofinity.linux.online import sysfs_root
from autofinity.linux.sysfs_topology import read_sysfs
from autofinity.measured.counts import Measured
from autofinity.measured.formats import STDIN, read_measured
from autofinity.model.counters import Behaviour
from autofinity.model.cpu import Cpu
from autofinity.model.errors import UsageError
from autofinity.model.facts import FactsOf, Speeds
from autofinity.model.policy import RulePolicy
from autofinity.model.sharing import NumaVectors
from autofinity.model.topology import OsIndex, Topology
from autofinity.policy.on_machine import on_machine
from autofinity.policy.selector import decide
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.machine_facts import facts_here, kind_here, speeds_here
from autofinity.runtime.policies import NO_POLICY
from autofinity.runtime.samples import Samples
from autofinity.sim.events import EVENTS
from autofinity.workflow.advice.given import Given, given_by, rates_asked_by
from autofinity.workflow.advice.open_answer import open_answer
from autofinity.workflow.advice.sampled_pages import pages_by_node, told_by_node
from autofinity.workflow.advice.seen import Seen
from autofinity.workflow.backends import described_machine, machine_topology
from autofinity.workflow.machine_events import cpu_of
from autofinity.workflow.machine_facts import facts_on

HERE = "host"


@dataclass(frozen=True, slots=True)
class Place:
    """The machine that a file is of."""

    topology: Topology
    cpu: Cpu
    facts: FactsOf
    speeds: Speeds
    kind: str
    numa_balancing: str | None = None
    smt_slowdown: float | None = None


def place_named(machine: str) -> Place:
    """The machine at hand (`host`), a preset, a machine file, or a topology alone, of whose CPU and
    speeds nothing is known. Raises `UsageError`, `TopologyError`.
    """
    if machine == HERE:
        topology = read_sysfs(sysfs_root())
        return Place(
            topology,
            this_cpu(),
            facts_here(topology),
            speeds_here(topology),
            kind_here(topology),
            numa_balancing=read_text(SYSCTL).strip(),
        )
    cpu = cpu_of(machine) or Cpu("", 0, 0)
    topology, facts = machine_topology(machine), facts_on(machine)
    from autofinity.sim.speeds import speeds_of

    if (spec := described_machine(machine)) is None:
        return Place(topology, cpu, facts, Speeds(), "")
    smt_slowdown = spec.core.smt_slowdown
    return Place(topology, cpu, facts, speeds_of(spec), spec.name, smt_slowdown=smt_slowdown)


def seen_in_file(
    path: Path, place: Place, policy: RulePolicy | None, asked: str, threads: int | None = None
) -> Seen:
    """The program in the file `path` (`-`: standard input). `threads`: that it computes with; None:
    those that the file shows. `asked` says which policy that is, or why there is none.

    Raises `MeasurementError` for a file without counts, and `UsageError` where nobody says how
    many threads.
    """
    measured = read_measured(path, EVENTS)
    name = "standard input" if path == STDIN else path.name
    computing = threads or measured.threads
    if not computing:
        raise UsageError(
            f"{name}: {measured.format} does not say of how many threads it is; expected "
            "--threads COUNT"
        )
    if measured.samples is not None and place.topology.n_nodes > 1:
        by_node = told_by_node(measured.samples, place.topology)
        measured = replace(measured, shows=(*measured.shows, *by_node))
    learned = policy
    if policy is not None:
        policy = on_machine(policy, place.facts(computing))
    given = given_by(name, measured, EventNames(place.cpu), policy, EVENTS)
    sample = Behaviour(given.values)
    undecided = _why_undecided(policy, given) or open_answer(policy, sample, name)
    if undecided and given.measure:
        undecided += f"; measure with `{given.measure}`"
    decided = policy is not None and not undecided
    cpus = _cpus(measured, place.topology, computing)
    return Seen(
        program=name,
        topology=place.topology,
        available=place.topology.allowed,
        policy=policy,
        asked=asked if policy is not None else NO_POLICY,
        state=LiveState(
            phase="placed" if decided else "left alone",
            samples=Samples(sample),
            decision=decide(policy, sample.values) if policy is not None and decided else None,
        ),
        undecided=undecided,
        threads=computing,
        learned=learned,
        kind=place.kind,
        cpus=cpus,
        touched=_touched(measured, place.topology),
        numa_balancing=place.numa_balancing,
        node_gbs=place.speeds.node_gbs,
        smt_slowdown=place.smt_slowdown,
        given=given,
        not_measured=given.missing(measure=not undecided),
    )


def _why_undecided(policy: RulePolicy | None, given: Given) -> str:
    """Empty where the policy may be asked: no evidence, no answer, as in a run."""
    if policy is None:
        return NO_POLICY
    conditions = [condition for rule in policy.rules for condition in rule.conditions]
    if not conditions:
        return ""
    rates = rates_asked_by(policy)
    if rates and not given.timed:
        return (
            f"rules ask how often a second ({', '.join(rates)}), and {given.format} does not say "
            "in what time it counted"
        )
    ratios = {ratio.name: ratio.counters for ratio in policy.ratios}
    needs = (set(ratios.get(each.counter, (each.counter,))) for each in conditions)
    if not any(need <= given.values.keys() for need in needs):
        lacking = ", ".join(given.lacking)
        return f"no rule can be asked: {given.file} lacks {lacking}, which the rules ask for"
    return ""


def _cpus(measured: Measured, topology: Topology, threads: int) -> tuple[OsIndex, ...]:
    """Where each thread was, where the file shows it of as many and the machine has such CPUs."""
    cpus = tuple(map(OsIndex, measured.cpus))
    fit = len(cpus) == threads and all(cpu in topology.by_os_index for cpu in cpus)
    return cpus if fit else ()


def _touched(measured: Measured, topology: Topology) -> NumaVectors | None:
    if measured.samples is None or topology.n_nodes < 2:
        return None
    return pages_by_node(measured.samples, topology)
