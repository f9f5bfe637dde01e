// The events of the simulated PMU. Their meanings are in autofinity/sim/events.py, whose test
// checks that both lists are the same and in the same order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace autofinity::sim {

#define AUTOFINITY_SIM_EVENTS(X)               \
    X(instructions)                            \
    X(retired_uops)                            \
    X(cycles)                                  \
    X(cpu_clocks_halted)                       \
    X(data_cache_accesses)                     \
    X(data_cache_loads)                        \
    X(data_cache_stores)                       \
    X(data_cache_misses)                       \
    X(data_cache_refills_from_l2)              \
    X(data_cache_refills_from_northbridge)     \
    X(invalid_data_cache_lines_evicted)        \
    X(clean_data_cache_lines_evicted)          \
    X(modified_data_cache_lines_evicted)       \
    X(coherence_misses)                        \
    X(l2_accesses)                             \
    X(l2_misses)                               \
    X(l2_evictions)                            \
    X(l2_writebacks)                           \
    X(llc_requests)                            \
    X(llc_read_requests)                       \
    X(llc_modify_requests)                     \
    X(llc_hits)                                \
    X(llc_misses)                              \
    X(llc_evictions)                           \
    X(llc_writebacks)                          \
    X(back_invalidations)                      \
    X(directory_evictions)                     \
    X(read_requests_to_llc_any_core)           \
    X(exclusive_read_requests_to_llc_any_core) \
    X(modify_read_requests_to_llc_any_core)    \
    X(cache_to_cache_transfers_same_llc)       \
    X(cache_to_cache_transfers_same_package)   \
    X(cache_to_cache_transfers_remote)         \
    X(cache_to_cache_transfers_other_llc)      \
    X(cache_to_cache_transfers_supplied)       \
    X(upgrades)                                \
    X(invalidations_sent)                      \
    X(invalidations_received)                  \
    X(downgrades_received)                     \
    X(probe_responses_dirty)                   \
    X(probe_responses_clean)                   \
    X(dtlb_accesses)                           \
    X(dtlb_misses)                             \
    X(l2_tlb_hits)                             \
    X(page_walks)                              \
    X(page_walk_misses)                        \
    X(page_faults)                             \
    X(tlb_shootdowns)                          \
    X(prefetches_issued)                       \
    X(prefetches_useful)                       \
    X(prefetches_late)                         \
    X(dram_reads_local)                        \
    X(dram_reads_remote)                       \
    X(dram_writes)                             \
    X(link_bytes)                              \
    X(link_request_bytes)                      \
    X(memory_queue_clocks)                     \
    X(link_queue_clocks)                       \
    X(stall_cycles_memory)                     \
    X(stall_cycles_sync)                       \
    X(atomics)                                 \
    X(lock_acquisitions)                       \
    X(lock_waits)                              \
    X(barrier_waits)                           \
    X(await_waits)                             \
    X(units_executed)                          \
    X(context_switches)                        \
    X(migrations)                              \
    X(useful_work)

enum Counter : std::size_t {
#define AUTOFINITY_SIM_ENUM(name) name,
    AUTOFINITY_SIM_EVENTS(AUTOFINITY_SIM_ENUM)
#undef AUTOFINITY_SIM_ENUM
        n_counters
};

inline constexpr std::array<const char*, n_counters> counter_names = {
#define AUTOFINITY_SIM_NAME(name) #name,
    AUTOFINITY_SIM_EVENTS(AUTOFINITY_SIM_NAME)
#undef AUTOFINITY_SIM_NAME
};

// Behind the events: lines read from the memory of each node, counted up to this many nodes.
inline constexpr std::size_t counted_homes = 32;

using Counts = std::array<std::uint64_t, n_counters + counted_homes>;

inline std::uint64_t& reads_from(Counts& n, std::size_t home) { return n[n_counters + home]; }

}  // namespace autofinity::sim
