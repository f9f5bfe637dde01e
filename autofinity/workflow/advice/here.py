"""A program that runs on this machine: watched as `run` watches it, and left alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path

from autofinity.foreign_text import one_line
from autofinity.linux.bind import StartMask, placeable_now
from autofinity.linux.capabilities import Ladder, probe
from autofinity.linux.counted_threads import many_open_files
from autofinity.linux.kernel_file import read_text
from autofinity.linux.numa_hinting import SYSCTL, hinting_is_on
from autofinity.linux.online import sysfs_root
from autofinity.linux.process import LinuxProcess, open_pidfd
from autofinity.linux.program_key import RunningProgram, running_program
from autofinity.linux.sysfs_topology import read_sysfs
from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.detection import FaultSampling
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex, Topology
from autofinity.policy.on_machine import on_machine
from autofinity.reporter import SILENT, Reporter
from autofinity.runtime.attaching import masks_at_start
from autofinity.runtime.by_policy import by_policy
from autofinity.runtime.evidence import MORE_CPUS, STAYS, nothing_to_choose
from autofinity.runtime.journal import Journal
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.machine_facts import facts_here, kind_here, speeds_here
from autofinity.runtime.policies import NO_POLICY, NO_POLICY_REMEDY, Choice, read_policy
from autofinity.runtime.request import Request
from autofinity.runtime.run_header import RunHeader
from autofinity.runtime.sensors import address_sensor, counters_of
from autofinity.runtime.surroundings import Surroundings
from autofinity.runtime.undecided import why_undecided
from autofinity.workflow.advice.look import look_at
from autofinity.workflow.advice.memory_reads import OF_MEMORY
from autofinity.workflow.advice.open_answer import open_answer
from autofinity.workflow.advice.seen import Seen
from autofinity.workflow.meanwhile import told_meanwhile


def seen_here(
    pid: int, choice: Choice | None, threads: int = 0, reporter: Reporter = SILENT
) -> Seen:
    """Watch process `pid` until the policy has answered, or the process ends. `threads`: promised;
    0: those that are seen to compute. A notice says why that takes long.

    Raises `UsageError` for a process that is not there or ends before anything is seen of it,
    `CapabilityError` for one that may not be watched, `PolicyError`, `TopologyError`.
    """
    if not Path(f"/proc/{pid}").exists():
        raise UsageError(f"there is no process {pid}; expected the pid of a running program")
    program = running_program(pid)
    policy = learned = read_policy(choice.path)[0] if choice is not None else None
    ladder = probe()
    allowed = masks_at_start(pid)
    request = _request(pid, program, threads, allowed, ladder.tier, choice)
    topology = read_sysfs(sysfs_root(), allowed=allowed)
    at_start = StartMask.of(pid, allowed)
    journal = Journal(None, RunHeader("", request.program, pid, ladder.tier, 0, "", "none", ""))
    around = Surroundings(topology, policy, lambda: placeable_now(pid, at_start, topology), journal)
    decider = by_policy(request, around)
    touches = topology.n_nodes > 1 and (hinting_is_on() or ladder["memory sampling"].available)
    process = _process(request, around, allowed, decider.sensors.counters, touches=touches)
    try:
        with many_open_files():
            start = decider.begin(topology, allowed, threads)
            latest = deque([start], maxlen=1)
            with told_meanwhile(
                one_line(Path(request.program).name),
                lambda: f"{_waits(latest[0], threads)}; Ctrl-C ends this and leaves it running",
                reporter,
                "has been watched",
            ):
                looked = look_at(process, decider, start, topology, latest.append)
        available = around.available() or allowed.intersection(topology.by_os_index)
    finally:
        process.close()
    if not process.was_seen:
        raise UsageError(f"process {pid} ended before any of its threads was seen")
    state = looked.state
    threads = threads or len(state.workers.computing) or state.most_computing
    room = _room(state, threads)
    if policy is not None:
        policy = on_machine(policy, facts_here(topology)(max(room or threads, 1)))
    return Seen(
        program=Path(request.program).name,
        topology=topology,
        available=available,
        policy=policy,
        asked=f"{choice.path}, {choice.origin}" if choice else f"{NO_POLICY}; {NO_POLICY_REMEDY}",
        state=state,
        undecided=_undecided(state, request.threads)
        or open_answer(policy, state.samples.start, "the sample"),
        threads=threads,
        room=room,
        learned=learned,
        kind=kind_here(topology),
        computing=looked.computing,
        cpus=tuple(cpu for cpu in looked.cpus if cpu in topology.by_os_index),
        memory=looked.memory,
        touched=looked.touched,
        timeline=looked.timeline,
        numa_balancing=read_text(SYSCTL).strip(),
        node_gbs=speeds_here(topology).node_gbs,
        not_measured=_not_measured(topology, available, ladder, touches=touches),
    )


def _waits(state: LiveState, promised: int) -> str:
    """The reason why there is no answer yet."""
    if state.phase in ("settling", "sampling"):
        return "its threads are being sampled"
    if state.most_computing < max(promised, 2):
        count = "two" if promised <= 2 else str(promised)
        return f"advice waits for {count} threads that compute"
    return "advice waits until its threads compute and stay the same"


def _process(
    request: Request,
    around: Surroundings,
    allowed: frozenset[OsIndex],
    counters: Sequence[str],
    *,
    touches: bool,
) -> LinuxProcess:
    """The program with these counters, with those of memory on several nodes, and where `touches`,
    with sampled touches of pages. Raises `CapabilityError`.
    """
    topology = around.topology
    asked = dict.fromkeys((*counters, *(OF_MEMORY if topology.n_nodes > 1 else ())))
    detectors = [FaultSampling(table="none")] if touches else []
    return LinuxProcess(
        request.pid,
        open_pidfd(request.pid),
        allowed,
        counters_of(request, tuple(asked), around.journal, None),
        faults=address_sensor(request, detectors, topology),
        node_os_indices=topology.node_os_indices,
    )


def _room(state: LiveState, threads: int) -> int:
    """Room of the threads that compute, as a run would place them; 0: for other threads."""
    computing = len(state.workers.computing)
    return state.workers.room if computing == threads else 0


def _undecided(state: LiveState, threads: int) -> str:
    # The remedy after "; " is for a run, not for advice.
    return why_undecided(state, threads).partition("; ")[0].removesuffix(f": {STAYS}")


def _not_measured(
    topology: Topology, available: frozenset[OsIndex], ladder: Ladder, *, touches: bool
) -> tuple[str, ...]:
    lines = []
    counters = ladder["hardware counters"]
    if not counters.available:
        lines.append(f"no hardware counters: {counters.detail}; {counters.remedy}")
    if topology.n_nodes > 1 and not touches:
        sampling = ladder["memory sampling"]
        lines.append(f"who touches which page: {sampling.detail}; {sampling.remedy}")
    if why := nothing_to_choose(topology, available):
        lines.append(f"{why}; {MORE_CPUS}")
    return tuple(lines)


def _request(
    pid: int,
    program: RunningProgram,
    threads: int,
    allowed: frozenset[OsIndex],
    tier: str,
    choice: Choice | None,
) -> Request:
    return Request(
        pid,
        program.path,
        program.key,
        format_cpu_list(allowed),
        threads=threads,
        bind="none",
        tier=tier,
        policy=choice.path if choice is not None else None,
    )
