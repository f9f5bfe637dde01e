// TLBs, page walks, page faults and moving a page.
#include <algorithm>

#include "bits.hpp"
#include "directory_filter.hpp"
#include "traffic.hpp"

namespace autofinity::sim {

template <MachineKind kind>
[[gnu::always_inline]] inline Ticks Memory::translate(PrivateCaches& c, std::uint32_t page,
                                                      Ticks now, bool faulted) {
    const std::uint32_t unit = c.units.of(page);
    if (c.tlb1.touch(unit)) return 0;
    Counts& n = *counts_;
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
        if (c.side.walk_reads_caches)
            cost += entry<kind>(c, c.units.entry(page), faulted, now) - now;
        const Word out = c.tlb2.insert(set, word_of(unit, shared));
        const std::uint32_t first_out = c.tlb1.insert(unit);
        walk_ = {true, c.tlb2.ways() != 0 ? line_of(out) : first_out};
        return cost;
    }
    c.tlb1.insert(unit);
    return cost;
}

template <MachineKind kind>
[[gnu::always_inline]] inline Ticks Memory::entry(PrivateCaches& c, Line line, bool write,
                                                  Ticks now) {
    if (!pages_.mapped(line >> page_shift)) pages_.map_table(line >> page_shift, c.node);
    const bool from_l2 = Asked<kind>::has_l2(c);
    Sets& array = from_l2 ? c.l2 : c.l1;
    Word* set = array.at(from_l2 ? pages_.physical(line) : line);
    const int way = array.find(set, line);
    Word state = way >= 0 ? state_of(set[way]) : Word{invalid};
    Ticks ready = now + (from_l2 ? c.side.l2_hit : c.side.l1_hit);
    bool contended = false;
    if (state != invalid) {
        array.to_front(set, way, set[way]);
    } else {
        ++(*counts_)[page_walk_misses];
        ready = fetch<kind>(c, line, write ? Request::store : Request::load, now, state, contended);
        if (from_l2)
            fill_l2<kind>(c, line, state);
        else
            fill_l1<kind>(c, set, way, word_of(line, state));
    }
    if (!write) return ready;
    if (state == shared || state == owned) return upgrade(c, line, false, ready, contended);
    set_private_state(c.domain, line, modified);
    return ready;
}

Ticks Memory::take_fault(std::uint32_t cached_core, Line line) {
    PrivateCaches& c = *cores_[cached_core];
    ++(*c.counts)[page_faults];
    pages_.map(line >> page_shift, c.node);
    return c.side.page_fault;
}

Moved Memory::move_page(std::uint32_t page, std::uint32_t node, Ticks now) {
    if (!pages_.mapped(page) || pages_.node(page) == node) return {};
    now_ = now;
    counts_ = &nobody_;
    const std::uint32_t from = pages_.node(page);
    Ticks ready = now;
    Moved moved;
    pages_.units.each_page(page, [&](std::uint32_t each) {
        for (Line line = each << page_shift; line < (each + 1) << page_shift; ++line) {
            DirectoryLine& d = directory_[line];
            if (filters_.count() != 0) untrack(line);
            sharers(line, d).each([&](auto domain) {
                drop_private(domain, line);
                tell_lost(domain, line, false);
            });
            each_bit(d.llcs, [&](auto llc) { llc_remove(llc, line); });
            forget(line);
            const Ticks read = controllers_[from].take(now, machine_.memory_service[from]);
            const Ticks sent = now + read + cross(from, node, now + read, nobody_);
            const Ticks written = controllers_[node].take(sent, machine_.memory_service[node]);
            if (moved.first_line == 0) moved.first_line = sent + written - now;
            ready = std::max(ready, sent + written);
        }
    });
    moved.shot_down = shoot_down(page);
    pages_.place(page, node);
    moved.cost =
        ready - now + machine_.dram[0] + (moved.shot_down.empty() ? 0 : machine_.shootdown);
    return moved;
}

CachedCores Memory::shoot_down(std::uint32_t page) {
    const std::uint32_t unit = pages_.units.of(page);
    CachedCores had;
    for (std::uint32_t cached_core = 0; cached_core < cores_.size(); ++cached_core) {
        PrivateCaches& c = *cores_[cached_core];
        const bool first = c.tlb1.forget(unit);
        Word* set = c.tlb2.at(unit);
        const int way = c.tlb2.find(set, unit);
        if (way >= 0) c.tlb2.remove(set, way);
        if (!first && way < 0) continue;
        ++(*c.counts)[tlb_shootdowns];
        had.push_back(cached_core);
    }
    return had;
}

}  // namespace autofinity::sim
