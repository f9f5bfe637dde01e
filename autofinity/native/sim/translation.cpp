// TLBs, page walks, page faults and moving a page.
#include <algorithm>

#include "bits.hpp"
#include "memory.hpp"

namespace autofinity::sim {

Ticks Memory::translate(PrivateCaches& c, std::uint32_t page) {
    if (c.tlb1.touch(page)) return 0;
    Counts& n = *c.counts;
    ++n[dtlb_misses];
    Ticks cost = 0;
    if (!pages_.mapped(page)) {
        ++n[page_faults];
        pages_.map(page, c.node);
        cost += machine_.page_fault;
    }
    Word* set = c.tlb2.at(page);
    const int way = c.tlb2.find(set, page);
    cost += machine_.tlb2_hit;
    if (way >= 0) {
        ++n[l2_tlb_hits];
        to_front(set, way, set[way]);
    } else {
        ++n[page_walks];
        cost += machine_.page_walk;
        c.tlb2.insert(set, word_of(page, shared));
    }
    c.tlb1.insert(page);
    return cost;
}

Ticks Memory::move_page(std::uint32_t page, std::uint32_t node, Ticks now) {
    if (!pages_.mapped(page) || pages_.node(page) == node) return 0;
    now_ = now;
    counts_ = &nobody_;
    const std::uint32_t from = pages_.node(page);
    Ticks ready = now;
    for (Line line = page << page_shift; line < (page + 1) << page_shift; ++line) {
        DirectoryLine& d = directory_[line];
        each_bit(d.sharers, [&](auto slot) {
            drop_private(slot, line);
            lost_.push_back({slot, line, false});
        });
        each_bit(d.llcs, [&](auto llc) { llc_remove(llc, line); });
        d = DirectoryLine{};
        const Ticks read = now + controllers_[from].take(now, machine_.memory_service);
        const Ticks sent = read + cross(from, node, read, nobody_);
        ready = std::max(ready, sent + controllers_[node].take(sent, machine_.memory_service));
    }
    for (auto& core : cores_) {
        core->tlb1.forget(page);
        Word* set = core->tlb2.at(page);
        if (const int way = core->tlb2.find(set, page); way >= 0) core->tlb2.remove(set, way);
    }
    pages_.place(page, node);
    return ready - now + machine_.dram[0];
}

}  // namespace autofinity::sim
