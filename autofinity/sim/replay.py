"""A trace, prepared once, and one replay of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from autofinity._core import sim as core
from autofinity._core import trace as traces
from autofinity.model.errors import PlacementError, SimulationError
from autofinity.model.topology import OsIndex, Topology
from autofinity.sim.native import machine_model
from autofinity.sim.replay_cost import require_room
from autofinity.sim.result import SimResult
from autofinity.sim.spec import MachineSpec

type PagePolicy = Literal["first_touch", "interleave", "bind"]


def load_program(directory: str | Path) -> core.Program:
    """Read a trace directory and make it ready for any number of replays.

    Raises `TraceError` for damaged files, `SimulationError` for events that no replay could follow
    and where memory is too small.
    """
    require_room(Path(directory))
    return core.Program.read(str(directory))


def workers_of(directory: str | Path, threads: int) -> tuple[int, ...]:
    """The `threads` streams with most accesses in the region of interest, in creation order.

    The other streams are helpers: a main thread that only creates and joins, an idle pool thread.
    Raises `SimulationError` when the trace has fewer streams.
    """
    streams = traces.summary(str(directory))["streams"]
    if not 0 < threads <= len(streams):
        raise SimulationError(
            f"{directory} holds {len(streams)} streams; expected at least one and at most that "
            f"many threads, got {threads}. Capture a run of the program that has {threads} threads."
        )
    busiest = sorted(
        range(len(streams)),
        key=lambda i: (-streams[i]["roi_accesses"], -streams[i]["accesses"], i),
    )
    return tuple(sorted(busiest[:threads]))


def pus_of_streams(
    topology: Topology, streams: int, cpus: Sequence[OsIndex], workers: Sequence[int]
) -> list[int]:
    """Logical PU of every stream: worker i on `cpus[i]`, all other streams on `cpus[0]`.

    Raises `PlacementError` when the numbers do not fit or a PU does not exist.
    """
    if not cpus or len(cpus) != len(workers):
        raise PlacementError(f"got {len(cpus)} PUs for {len(workers)} workers; expected one each")
    if not all(0 <= worker < streams for worker in workers):
        raise PlacementError(f"workers {list(workers)} are not all among the {streams} streams")
    places = logical_pus(topology, cpus)
    pus = [places[0]] * streams
    for worker, place in zip(workers, places, strict=True):
        pus[worker] = place
    return pus


def logical_pus(topology: Topology, cpus: Sequence[OsIndex]) -> list[int]:
    """Logical numbers of PUs. Raises `PlacementError` for a PU that does not exist."""
    position = {pu.os_index: index for index, pu in enumerate(topology.pus)}
    unknown = [cpu for cpu in cpus if cpu not in position]
    if unknown:
        raise PlacementError(
            f"{topology.name} has no PU {', '.join(map(str, unknown))}; "
            f"its {len(position)} PUs go from {min(position)} to {max(position)}"
        )
    return [position[cpu] for cpu in cpus]


def result_of(
    simulation: core.Simulation, cpus: Sequence[OsIndex], workers: Sequence[int], clock_hz: float
) -> SimResult:
    """Measurements of a simulation so far."""
    samples, times_ns, progress = simulation.samples()
    return SimResult(
        roi_ns=simulation.elapsed_ns,
        totals=simulation.totals(),
        samples=samples,
        times_ns=times_ns,
        progress=progress,
        workers=tuple(workers),
        cpus=tuple(cpus),
        clock_hz=clock_hz,
    )


def simulate(
    spec: MachineSpec,
    trace: str | Path | traces.Trace | core.Program,
    cpus: Sequence[OsIndex],
    *,
    workers: Sequence[int] | None = None,
    sample_period_ns: float = 500_000,
    seed: int = 0,
    page_policy: PagePolicy = "first_touch",
    bind_node: int = 0,
    page_table: Mapping[int, int] | None = None,
    skew_ns: float = 0.0,
) -> SimResult:
    """Replay a trace to the end of its region of interest.

    Args:
        spec: the machine.
        trace: a directory, a trace in memory, or a prepared program (cheapest when used again).
        cpus: PU (OS index) of each worker; all other streams share the first.
        workers: streams that are the program's threads. Default: the busiest ones of a directory,
            otherwise the last `len(cpus)` streams.
        sample_period_ns: simulated time between samples; 0 for one sample of the whole region.
        seed: random seed for the physical page colours.
        page_policy: node of a page on first touch.
        bind_node: node of all pages under the policy `bind`.
        page_table: node of single virtual page numbers (4 KiB); it overrides the policy.
        skew_ns: see `machine_model`.

    Raises `SimulationError`, `TraceError`, `PlacementError`.


    """
    if isinstance(trace, core.Program):
        program = trace
    elif isinstance(trace, traces.Trace):
        program = core.Program(trace)
    else:
        program = load_program(trace)
    if workers is None:
        if isinstance(trace, str | Path):
            workers = workers_of(trace, len(cpus))
        else:
            workers = range(program.streams)[-len(cpus) :]
    pus = pus_of_streams(spec.topology, program.streams, cpus, workers)
    simulation = core.Simulation(
        machine_model(spec, skew_ns),
        program,
        pus,
        sample_period_ns=sample_period_ns,
        seed=seed,
        page_policy=page_policy,
        node=bind_node,
        page_table=dict(page_table or {}),
    )
    simulation.run()
    return result_of(simulation, cpus, workers, spec.clock_hz)
