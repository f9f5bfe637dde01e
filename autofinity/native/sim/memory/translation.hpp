// TLBs, page walks and page faults. A walk reads the page-table entry from the L2 on (from the L1
// on where there is no L2): from there outwards it is an ordinary load of the core.
#pragma once

#include <cstdint>

#include "coherence.hpp"
#include "hierarchy.hpp"
#include "machine_kind.hpp"
#include "private_caches.hpp"
#include "sim/types.hpp"
#include "under_way.hpp"

namespace autofinity::sim {

class Translation {
  public:
    explicit Translation(Coherence& coherence)
        : coherence_(coherence), hierarchy_(coherence.hierarchy()) {}

    // Makes the translation of a page present; returns its cost. `faulted`: a fault has just
    // written the page-table entry.
    template <MachineKind kind>
    Ticks translate(PrivateCaches& c, std::uint32_t page, Ticks now, bool faulted, UnderWay& w);
    // Entry of a table in memory, read or written at `now` by a walk or (written) by a page fault
    // or by what else the memory management unit does; returns when it is there.
    template <MachineKind kind>
    Ticks entry(PrivateCaches& c, Line line, bool write, Ticks now, bool& missed, UnderWay& w);
    // Page fault: the kernel places the line's page; returns the time that this keeps the core
    // busy.
    Ticks fault(PrivateCaches& c, Line line);
    // All TLBs forget the translation of the page's unit; returns the cores that had it.
    CachedCoreSet shoot_down(std::uint32_t page);

  private:
    Coherence& coherence_;
    Hierarchy& hierarchy_;
};

template <MachineKind kind>
[[gnu::always_inline]] inline Ticks Translation::translate(PrivateCaches& c, std::uint32_t page,
                                                           Ticks now, bool faulted, UnderWay& w) {
    const std::uint32_t unit = c.units.of(page);
    if (c.tlb1.touch(unit)) return 0;
    Counts& n = *w.counts;
    ++n[dtlb_misses];
    Ticks cost = c.side.tlb2_hit;
    Word* set = c.tlb2.at(unit);
    const int way = c.tlb2.find(set, unit);
    if (way >= 0) {
        ++n[l2_tlb_hits];
        c.tlb2.to_front(set, way, set[way]);
    } else {
        ++n[page_walks];
        cost += c.side.page_walk;
        if (c.side.walk_reads_caches) {
            bool missed = false;
            cost += entry<kind>(c, c.units.entry(page), faulted, now, missed, w) - now;
            n[page_walk_misses] += missed;
        }
        const Word out = c.tlb2.insert(set, word_of(unit, shared));
        const std::uint32_t first_out = c.tlb1.insert(unit);
        w.walk = {true, c.tlb2.ways() != 0 ? line_of(out) : first_out};
        return cost;
    }
    c.tlb1.insert(unit);
    return cost;
}

template <MachineKind kind>
[[gnu::always_inline]] inline Ticks Translation::entry(PrivateCaches& c, Line line, bool write,
                                                       Ticks now, bool& missed, UnderWay& w) {
    if (!hierarchy_.pages.mapped(line >> page_shift))
        hierarchy_.pages.map_table(line >> page_shift, c.node);
    const bool from_l2 = Asked<kind>::has_l2(c);
    Sets& array = from_l2 ? c.l2 : c.l1;
    Word* set = array.at(from_l2 ? hierarchy_.pages.physical(line) : line);
    const int way = array.find(set, line);
    Word state = way >= 0 ? state_of(set[way]) : Word{invalid};
    Ticks ready = now + (from_l2 ? c.side.l2_hit : c.side.l1_hit);
    bool contended = false;
    if (state != invalid) {
        array.to_front(set, way, set[way]);
    } else {
        missed = true;
        ready = coherence_.fetch<kind>(c, line, write ? Request::store : Request::load, now, state,
                                       contended, w);
        if (from_l2)
            hierarchy_.into_l2<kind>(c, line, state, w);
        else
            hierarchy_.into_l1<kind>(c, set, way, word_of(line, state), w);
    }
    if (!write) return ready;
    if (state == shared || state == owned)
        return coherence_.upgrade(c, line, false, ready, contended, w);
    hierarchy_.cores.domain(c.domain).set_state(line, modified);
    return ready;
}

}  // namespace autofinity::sim
