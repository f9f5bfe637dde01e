"""The simulated machine (C++; see autofinity/native/sim)."""

from collections.abc import Sequence
from os import PathLike
from typing import Literal, overload

import numpy as np
import numpy.typing as npt

from autofinity._core.topology import Machine
from autofinity._core.trace import SampledTrace, Trace

TICKS_PER_CLOCK: int
INSTRUCTION_SET: Literal["any", "x86-64-v4"]
"""The processors that this core was compiled for; the counts are the same for all."""

def event_names() -> list[str]: ...

class CacheShape:
    """Sets and ways of a cache or TLB."""

    def __init__(self, sets: int, ways: int) -> None: ...

class PrefetchShape:
    """Stream prefetcher of a core."""

    def __init__(
        self, streams: int, trigger: int, distance: int, degree: int, in_flight: int
    ) -> None: ...

class PrivateSide:
    """Caches, TLBs and prefetcher of a kind of core."""

    l1: CacheShape
    l2: CacheShape
    l2_exclusive: bool
    tlb1: CacheShape
    tlb2: CacheShape
    prefetch: PrefetchShape
    l1_hit: int
    l2_hit: int
    tlb2_hit: int
    page_walk: int
    walk_reads_caches: bool
    page_fault: int
    def __init__(self) -> None: ...

class CoreClass:
    """A kind of core."""

    side: PrivateSide
    instruction: int
    clock_ratio: float
    misses_in_flight: int
    window: int
    uops_per_instruction: float
    smt_slowdown: float
    smt_window: int
    smt_shares_misses: bool
    def __init__(self) -> None: ...

class MachineModel:
    """A topology and how fast all of it is; latencies in ticks."""

    llc_distance: Sequence[int]
    node_distance: Sequence[int]
    ghz: float
    llc: CacheShape
    directory: CacheShape
    page_bytes: int
    home_of_node: Sequence[int]
    llc_inclusive: bool
    llc_by_home: bool
    owned_state: bool
    clean_forwarding: bool
    llc_hit: int
    dram: Sequence[int]
    load_modified: Sequence[int]
    load_shared: Sequence[int]
    store_modified: Sequence[int]
    store_shared: Sequence[int]
    atomic_modified: Sequence[int]
    atomic_shared: Sequence[int]
    atomic_hit: int
    memory_service: Sequence[int]
    link_service: Sequence[int]
    route_begin: Sequence[int]
    route_links: Sequence[int]
    fabric_service: int
    fabric_write_service: int
    llc_service: int
    class_of_core: Sequence[int]
    classes: Sequence[CoreClass]
    time_slice: int
    context_switch: int
    spin: int
    wake: int
    migration: int
    balance: int
    cache_hot: int
    daemon: int
    shootdown: int
    interrupt: int
    skew: int
    def __init__(self, topology: Machine) -> None: ...
    def validate(self) -> None: ...

class Program:
    """A trace made ready for replay once, for any number of simulations."""

    @overload
    def __init__(self, trace: Trace) -> None: ...
    @overload
    def __init__(self, traces: Sequence[Trace]) -> None:
        """Several processes."""

    @staticmethod
    def read(directory: str | PathLike[str]) -> Program:
        """A trace directory, with less memory than by way of a `Trace`. Raises TraceError naming
        file and offset.
        """

    @staticmethod
    def read_window(sampled: SampledTrace, window: int) -> Program:
        """One window of a sampled trace, by number. Raises TraceError naming file and offset."""

    @staticmethod
    def window(
        recorded: Trace,
        pages: Sequence[tuple[int, int, int]],
        warm: Sequence[Sequence[tuple[int, int, bool, int]]],
        waits: Sequence[bool],
    ) -> Program:
        """A window of a run, from what was recorded of it: events; pages (first, pages, stream) in
        order of first touch; of each stream the lines it touched last (first, lines, written,
        stamp), newest first, and whether it waits when the window ends. Raises SimulationError.
        """

    @staticmethod
    def skeleton(
        skeleton: Trace,
        interval_work: int,
        own: npt.NDArray[np.float64],
        units: npt.NDArray[np.float64],
    ) -> Program:
        """The skeleton of a sampled trace, timed: of each interval of so much work, how many times
        what it takes where no access waits an instruction takes, of each stream
        [intervals, streams] and within work units [intervals]. Raises SimulationError.
        """

    @property
    def processes(self) -> list[tuple[int, int]]:
        """First stream and number of streams of each."""

    @property
    def streams(self) -> int: ...
    @property
    def events(self) -> int: ...
    @property
    def accesses(self) -> int: ...
    @property
    def size_bytes(self) -> int: ...
    @property
    def has_roi(self) -> bool: ...
    @property
    def instructions(self) -> list[int]: ...

def whole_trace(
    program: Program, threads: Sequence[int], page_bytes: int = 4096
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Sharing [threads, threads], page numbers (process << 36 | page) and accesses [pages, threads]
    of these streams in the regions of interest. Raises SimulationError.
    """

class Detector:
    """Any of those below; their meaning is in autofinity/model/detection.py."""

    def __init__(self, **fields: object) -> None: ...

class FaultSampling(Detector): ...
class TlbAccessCounters(Detector): ...
class TlbMatching(Detector): ...
class RemoteAccesses(Detector): ...
class AccessSampling(Detector): ...
class HintingFaults(Detector): ...

class Simulation:
    """One replay of a program on a machine. Times are nanoseconds of simulated time."""

    def __init__(
        self,
        machine: MachineModel,
        program: Program,
        pus: Sequence[int],
        *,
        sample_period_ns: float = 0.0,
        seed: int = 0,
        page_policy: str = "first_touch",
        node: int = 0,
        page_table: dict[int, int] = ...,
        starts: Sequence[tuple[float, bool]] = ...,
        restart: bool = False,
        os_pus: Sequence[Sequence[int]] = ...,
        repeats: int = 1,
        detectors: Sequence[Detector] = ...,
        threads: Sequence[int] = ...,
    ) -> None:
        """`threads`: streams that detectors know by their positions here."""

    def advance(self, ns: float) -> bool: ...
    def run(self) -> bool: ...
    def run_window(
        self, lead: float = 0.12
    ) -> tuple[float, int, npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Runs a window, of whose instructions a share, the lead, is not measured. Returns time in
        ns, barriers passed, and of each stream the ns it waited at barriers, and after its last
        event. `totals` and `samples` are of what was measured. Raises SimulationError.
        """

    @property
    def ended(self) -> bool: ...
    @property
    def progress(self) -> float: ...
    @property
    def elapsed_ns(self) -> int: ...
    @property
    def elapsed_clocks(self) -> int: ...
    def totals(self) -> npt.NDArray[np.uint64]: ...
    def reads_by_node(self) -> npt.NDArray[np.uint64]:
        """Lines read from the memory of each node since the region began: [streams, nodes]."""

    def samples(
        self,
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], npt.NDArray[np.float64]]: ...
    def bind(self, stream: int, pu: int, stay: bool = False) -> None: ...
    def confine(self, stream: int, pus: Sequence[int]) -> None:
        """The operating system moves the stream among these PUs only, from now on."""

    @property
    def runnable(self) -> list[int]:
        """Streams that run, or wait for nothing but a PU, now."""

    def pu_of(self, stream: int) -> int: ...
    def move_page(self, page: int, node: int, process: int = 0) -> int: ...
    def node_of_page(self, page: int, process: int = 0) -> int: ...
    def touched_pages(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """Number (process << 36 | page, larger ones by their first 4 KiB) and node of each touched
        page.
        """

    @property
    def process_times_ns(self) -> list[tuple[int, int, bool]]:
        """Begin and end (or now) of each process's region, and whether it has ended."""

    @property
    def positions(self) -> list[int]:
        """Instructions of each stream since it began."""

    def contents(
        self, cache: Literal["l1", "l2", "llc"], number: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint8]]:
        """Lines (addresses >> 6) that the L1 or L2 of a core or an LLC has, and their states: 1 S,
        2 E, 3 O, 4 M. For tests. Raises SimulationError.
        """

    def check(self) -> None: ...
    def take_sharing(self) -> list[list[int]]:
        """Sharing that was seen since the last call, thread by thread. Raises SimulationError."""

    def take_pages(self) -> list[tuple[int, int, list[int]]]:
        """Pages seen since the last call: (process << 36 | page, node, counts)."""

    def take_triggers(self) -> int: ...
    def take_unit_accesses(self) -> int:
        """Accesses to memory of the memory management units' own since the last call."""

    def take_overhead_ns(self) -> dict[str, int]:
        """Time that cores have lost since the last call, by kind."""

    def spend(self, stream: int, ns: float) -> None:
        """Somebody else works on the stream's core for so long."""
