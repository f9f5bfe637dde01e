"""Events that the simulated PMU counts. Names are neutral; counts are per thread (stream).

The order is that of the arrays the native core hands out (`autofinity/native/sim/counts.hpp`).
Events named `…_any_core` count for all cores of the thread's LLC domain, as AMD family 10h's
northbridge event 4E0h, "Read Request to L3 Cache", does with all cores selected. Its unit mask
names the kind of read (`autofinity/linux/events/amd_fam10h.toml` programs the same): 01h, Read
Block Exclusive, is a data cache read (granted the exclusive state when no other cache has the
line); 04h, Read Block Modify, is a request to write; 07h is both and the instruction cache's (02h),
which the simulator does not have.
"""

from __future__ import annotations

EVENTS: dict[str, str] = {
    "instructions": "instructions retired",
    "retired_uops": "micro-operations retired: instructions x the preset's uops_per_instruction",
    "cycles": "core clocks while the thread was running, stalls included",
    "cpu_clocks_halted": "core clocks while it waited: blocked, or for its turn on the PU",
    "data_cache_accesses": "loads and stores",
    "data_cache_loads": "loads",
    "data_cache_stores": "stores",
    "data_cache_misses": "accesses whose line was not valid in the L1",
    "data_cache_refills_from_l2": "L1 misses that hit the core's L2",
    "data_cache_refills_from_northbridge": "L1 misses that left the core",
    "invalid_data_cache_lines_evicted": "L1 refills into a way whose line had been invalidated",
    "clean_data_cache_lines_evicted": "lines in S or E that an L1 refill displaced",
    "modified_data_cache_lines_evicted": "lines in M or O that an L1 refill displaced",
    "coherence_misses": (
        "L1 misses that find the line's own tag, invalid: another core's store, an inclusive LLC, "
        "a full directory or the move of the page took it away"
    ),
    "l2_accesses": "L1 misses, looked up in the L2",
    "l2_misses": "L2 lookups that missed",
    "l2_evictions": "lines that left the core because its caches were full",
    "l2_writebacks": "lines in M or O that left the core because its caches were full",
    "llc_requests": (
        "requests of this core to its LLC: reads, ownership, upgrades, page walks, prefetches"
    ),
    "llc_read_requests": "LLC requests for loads, page walks and prefetches",
    "llc_modify_requests": "LLC requests for ownership (stores, atomics, upgrades)",
    "llc_hits": "L2 misses, page walks and prefetches whose line was in the LLC that may have it",
    "llc_misses": (
        "L2 misses, page walks and prefetches whose line was not in the own LLC itself: another "
        "core of its domain may have had the line, unless the LLC is inclusive"
    ),
    "llc_evictions": "lines evicted from an LLC by this core's requests",
    "llc_writebacks": "lines so evicted that were written to memory",
    "back_invalidations": "copies in cores that an LLC or directory eviction invalidated",
    "directory_evictions": "entries evicted from full directories by this core's lines",
    "read_requests_to_llc_any_core": (
        "requests of all cores of the domain to its LLC; of those of the socket, where LLCs have "
        "lines by their home"
    ),
    "exclusive_read_requests_to_llc_any_core": (
        "reads of all cores of the domain for data caches, page walks and prefetches included "
        "(AMD 4E0h, unit mask 01h Read Block Exclusive)"
    ),
    "modify_read_requests_to_llc_any_core": (
        "requests of all cores of the domain for ownership (AMD 4E0h, unit mask 04h Read Block "
        "Modify)"
    ),
    "cache_to_cache_transfers_same_llc": "lines got from a cache of the same LLC domain",
    "cache_to_cache_transfers_same_package": "lines got from another domain of the package",
    "cache_to_cache_transfers_remote": "lines got from a cache of another package",
    "cache_to_cache_transfers_other_llc": "lines got from another domain, of any package",
    "cache_to_cache_transfers_supplied": "lines that this core's L1 or L2 supplied to others",
    "upgrades": "stores to a line held in S or O, which invalidate any other copies",
    "invalidations_sent": "copies in other cores that this core's stores invalidated",
    "invalidations_received": "copies here that other cores' stores invalidated",
    "downgrades_received": "lines in M or E that another core's load made shared here",
    "probe_responses_dirty": "probes of others that found a line in M or O here",
    "probe_responses_clean": "probes of others that found a line in E or S here",
    "dtlb_accesses": "address translations (one a load or store)",
    "dtlb_misses": "misses of the first-level data TLB",
    "l2_tlb_hits": "first-level data TLB misses that the second level held",
    "page_walks": "data TLB misses that walked the page table",
    "page_walk_misses": "page walks whose entry was not in the core's L2 (L1 if it has no L2)",
    "page_faults": "first touches of a page",
    "tlb_shootdowns": "translations that the core lost because a page moved",
    "prefetches_issued": "lines that the core's prefetcher asked for",
    "prefetches_useful": "prefetched lines that an access used while they were cached",
    "prefetches_late": "useful prefetches that were still in flight",
    "dram_reads_local": "lines read from memory of the own node",
    "dram_reads_remote": "lines read from memory of another node",
    "dram_writes": "lines written to memory, caused by this core's requests",
    "link_bytes": "bytes of the lines this core's requests moved: 72 each (header) on every link",
    "link_request_bytes": "bytes of requests, probes and answers on every link: 8 each",
    "memory_queue_clocks": "clocks that requests but prefetches waited for a memory controller",
    "link_queue_clocks": "clocks that requests but prefetches waited for a link",
    "stall_cycles_memory": "clocks in which nothing could issue: a miss, a page walk, an atomic",
    "stall_cycles_sync": "clocks blocked at a lock, barrier or await, the wake-up included",
    "atomics": "atomic accesses, those of locks and barriers included",
    "lock_acquisitions": "lock acquisitions, without those by the present holder",
    "lock_waits": "lock acquisitions that waited for another holder",
    "barrier_waits": "arrivals at a barrier that had to wait",
    "await_waits": "awaits whose token had not been posted",
    "units_executed": "work units (loop chunks, tasks) carried out",
    "context_switches": "switches of the PU from another thread to this thread",
    "migrations": "moves of the thread to another PU, by a binding or by the scheduler",
    "useful_work": "units of work reported by heartbeats",
}

OUTSIDE_LLC: tuple[str, ...] = (
    "cache_to_cache_transfers_other_llc",
    "dram_reads_local",
    "dram_reads_remote",
)
"""The events of lines that came from outside the domain of the own LLC."""

PAPER_EVENTS: tuple[str, ...] = (
    "data_cache_accesses",
    "invalid_data_cache_lines_evicted",
    "exclusive_read_requests_to_llc_any_core",
    "retired_uops",
)
"""The four events that AutoFinity's feature selection chose (Moore & Childers, CC 2013, section
3.1)."""
