// Effects of a core's prefetcher on the caches around it. A prefetch puts its line into the L2
// (into the LLC where there is no L2): from there outwards it is an ordinary load of the core.
#pragma once

#include <algorithm>

#include "coherence.hpp"
#include "hierarchy.hpp"
#include "machine_kind.hpp"
#include "private_caches.hpp"
#include "sim/types.hpp"
#include "under_way.hpp"

namespace autofinity::sim {

class Prefetching {
  public:
    explicit Prefetching(Coherence& coherence)
        : coherence_(coherence), hierarchy_(coherence.hierarchy()) {}

    // Time when a demand miss of the L1 is served, which could be at `ready`: later if a prefetch,
    // of any core with the same L2, has the line on its way. `was_there`: in the L2 (the LLC).
    template <MachineKind kind>
    Ticks arrival(PrivateCaches& c, Line line, bool was_there, Ticks ready, UnderWay& w);
    // Notifies the core's prefetcher of an L1 miss, and fetches the lines that it then requests.
    template <MachineKind kind>
    void train(PrivateCaches& c, Line line, Ticks now, UnderWay& w) {
        c.prefetcher.train(line, now, [&](Line ahead) { prefetch<kind>(c, ahead, now, w); });
    }

  private:
    template <MachineKind kind>
    void prefetch(PrivateCaches& c, Line line, Ticks now, UnderWay& w);
    template <MachineKind kind>
    void into_l2(PrivateCaches& c, Line line, Ticks now, UnderWay& w);
    void into_llc(PrivateCaches& c, Line line, Ticks now, UnderWay& w);

    Coherence& coherence_;
    Hierarchy& hierarchy_;
};

template <MachineKind kind>
[[gnu::always_inline]] inline Ticks Prefetching::arrival(PrivateCaches& c, Line line,
                                                         bool was_there, Ticks ready, UnderWay& w) {
    const Ticks due = Asked<kind>::shares_l2(c)
                          ? hierarchy_.cores.domain(c.domain).due_from_any(line)
                          : c.prefetcher.take(line);
    if (!was_there || due == 0) return ready;
    ++(*w.counts)[prefetches_useful];
    (*w.counts)[prefetches_late] += due > ready;
    return std::max(ready, due);
}

template <MachineKind kind>
void Prefetching::prefetch(PrivateCaches& c, Line line, Ticks now, UnderWay& w) {
    // No stream waits for a prefetch: its waits are no time of the thread.
    Counts& n = *w.counts;
    const std::uint64_t waited[] = {n[memory_queue_clocks], n[link_queue_clocks]};
    if (Asked<kind>::has_l2(c))
        into_l2<kind>(c, line, now, w);
    else
        into_llc(c, line, now, w);
    n[memory_queue_clocks] = waited[0];
    n[link_queue_clocks] = waited[1];
}

template <MachineKind kind>
void Prefetching::into_l2(PrivateCaches& c, Line line, Ticks now, UnderWay& w) {
    if (hierarchy_.directory.holds<kind>(c.domain, line)) return;
    ++(*w.counts)[prefetches_issued];
    Word state = invalid;
    bool contended = false;
    const Ticks ready = coherence_.fetch<kind>(c, line, Request::load, now, state, contended, w);
    hierarchy_.into_l2<kind>(c, line, state, w);
    c.prefetcher.sent(line, ready);
}

}  // namespace autofinity::sim
