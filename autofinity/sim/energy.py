"""Energy of the whole simulated machine, from the prices of its events and its time.

Dynamic energy is a price for every event, all threads included (helpers as well as workers). A page
walk looks up its entry in the L2 and a prefetch writes its line there; the requests of both to LLC,
links and memory count with those of the core. A line pays for every link that it passes. Every core
and every LLC domain of the machine has static power, used or not:

* a core takes `core_w` while a thread runs on it and `idle_core_w` otherwise;
* **no socket sleeps**: each LLC domain, with its share of memory controllers and links, takes
  `uncore_w` all the time, because its memory stays reachable and its caches answer probes. So a
  packed affinity saves uncore energy only by being faster. A machine whose empty sockets can sleep
  would favour packed ones more than this model does.

Prices come from the preset's `[energy]` table, which names their sources: caches are modelled,
static power is mostly a share of the rated power. So compare energies of affinities with each other
rather than with a meter.
"""

from __future__ import annotations

from collections.abc import Mapping

from autofinity.sim.spec import EnergySpec, MachineSpec

PRICED_EVENTS: dict[str, str] = {
    "instructions": "instruction_pj",
    "data_cache_accesses": "l1_access_pj",
    "l2_accesses": "l2_access_pj",
    "page_walks": "l2_access_pj",
    "prefetches_issued": "l2_access_pj",
    "llc_requests": "llc_access_pj",
    "dram_reads_local": "dram_read_line_pj",
    "dram_reads_remote": "dram_read_line_pj",
    "dram_writes": "dram_write_line_pj",
    "link_bytes": "link_byte_pj",
    "link_request_bytes": "link_byte_pj",
}
"""Event → field of `EnergySpec` with its price."""
_OF_DRAM = frozenset(event for event, price in PRICED_EVENTS.items() if price.startswith("dram_"))


def energy_j(spec: MachineSpec, counts: Mapping[str, float], elapsed_s: float) -> float:
    """Joules of the whole machine in `elapsed_s` seconds; NaN when the preset has no prices.

    `counts` are sums over all threads: the events of `PRICED_EVENTS`, and `cycles`, the clocks in
    which threads ran (two SMT siblings that run at once make one core busy for longer than the
    elapsed time; the core then counts as busy all the time).
    """
    if spec.energy is None:
        return float("nan")
    return dynamic_j(spec.energy, counts) + static_j(spec, counts["cycles"], elapsed_s)


def dynamic_j(prices: EnergySpec, counts: Mapping[str, float]) -> float:
    """Joules of the events."""
    picojoules: float = sum(
        counts[event] * getattr(prices, price) for event, price in PRICED_EVENTS.items()
    )
    return picojoules * 1e-12


def dram_j(prices: EnergySpec, counts: Mapping[str, float]) -> float:
    """Joules of the events that are the memory's own: lines read and written."""
    return dynamic_j(
        prices, {event: counts[event] * (event in _OF_DRAM) for event in PRICED_EVENTS}
    )


def static_j(spec: MachineSpec, cycles: float, elapsed_s: float) -> float:
    """Joules of cores and LLC domains over `elapsed_s`; `cycles` summed over all threads."""
    if spec.energy is None:
        return float("nan")
    core_s = spec.topology.n_cores * elapsed_s
    busy_s = min(cycles / spec.clock_hz, core_s)
    cores = busy_s * spec.energy.core_w + (core_s - busy_s) * spec.energy.idle_core_w
    return cores + spec.topology.n_llcs * elapsed_s * spec.energy.uncore_w
