// What a core's prefetcher does to the caches around it.
#include <algorithm>

#include "directory_filter.hpp"
#include "traffic.hpp"

namespace autofinity::sim {

// When a demand miss of the L1 is served, which could be at `ready`: later if a prefetch, of any
// core with the same L2, has the line on its way.
template <MachineKind kind>
[[gnu::always_inline]] inline Ticks Memory::arrival(PrivateCaches& c, Line line, bool was_there,
                                                    Ticks ready) {
    const Ticks due = Asked<kind>::shares_l2(c) ? due_from_any(*l2_domains_[c.domain], line)
                                                : c.prefetcher.take(line);
    if (!was_there || due == 0) return ready;
    ++(*counts_)[prefetches_useful];
    (*counts_)[prefetches_late] += due > ready;
    return std::max(ready, due);
}

template <MachineKind kind>
void Memory::prefetch(PrivateCaches& c, Line line, Ticks now) {
    // Nobody waits for a prefetch: what it waits for is no time of the thread.
    Counts& n = *counts_;
    const std::uint64_t waited[] = {n[memory_queue_clocks], n[link_queue_clocks]};
    if (Asked<kind>::has_l2(c))
        prefetch_into_l2<kind>(c, line, now);
    else
        prefetch_into_llc(c, line, now);
    n[memory_queue_clocks] = waited[0];
    n[link_queue_clocks] = waited[1];
}

template <MachineKind kind>
void Memory::prefetch_into_l2(PrivateCaches& c, Line line, Ticks now) {
    if (holds<kind>(c.domain, line)) return;
    ++(*counts_)[prefetches_issued];
    Word state = invalid;
    bool contended = false;
    const Ticks ready = fetch<kind>(c, line, Request::load, now, state, contended);
    fill_l2<kind>(c, line, state);
    c.prefetcher.sent(line, ready);
}

// Only lines that no cache has: the others are near already, or somebody works with them.
void Memory::prefetch_into_llc(PrivateCaches& c, Line line, Ticks now) {
    DirectoryLine& d = directory_[line];
    if (d.llcs != 0 || !in_no_core(line, d)) return;
    Counts& n = *counts_;
    ++n[prefetches_issued];
    ++n[llc_requests];
    ++n[llc_read_requests];
    ++n[llc_misses];
    ++any_core_[c.llc].reads;
    if (filters_.count() != 0) track(line, false);
    signal(c.node, pages_.node(line >> page_shift));
    c.prefetcher.sent(line, from_dram(c, line, now));
    llc_insert(c.llc, line);
}

}  // namespace autofinity::sim
