// Last-level caches: victim caches of the L2s, or inclusive of them.
#include "copies.hpp"
#include "directory_filter.hpp"
#include "traffic.hpp"

namespace autofinity::sim {

void Memory::llc_touch(std::uint32_t llc, Line line) {
    Word* set = llcs_.at(llc, pages_.physical(line));
    const int way = llcs_.find(set, line);
    llcs_.to_front(set, way, set[way]);
}

template <MachineKind kind>
[[gnu::always_inline]] inline void Memory::llc_insert(std::uint32_t llc, Line line) {
    DirectoryLine& d = directory_[line];
    const std::uint32_t bit = 1u << llc;
    if ((d.llcs & bit) != 0) {
        llc_touch(llc, line);
        return;
    }
    d.llcs |= bit;
    Word* set = llcs_.at(llc, pages_.physical(line));
    if (const Word out = llcs_.insert(set, word_of(line, shared)); out != 0)
        llc_evict<kind>(llc, line_of(out));
}

void Memory::llc_remove(std::uint32_t llc, Line line) {
    llcs_.take_out(llcs_.at(llc, pages_.physical(line)), line);
    directory_[line].llcs &= ~(1u << llc);
}

// The array has dropped the line already; the directory and the cores learn of it here.
template <MachineKind kind>
[[gnu::always_inline]] inline void Memory::llc_evict(std::uint32_t llc, Line line) {
    DirectoryLine& d = directory_[line];
    Counts& n = *counts_;
    ++n[llc_evictions];
    d.llcs &= ~(1u << llc);
    bool dirty = d.dirty_llc_plus_one == llc + 1;
    if (dirty) d.dirty_llc_plus_one = 0;
    if (Asked<kind>::llc_includes(machine_)) {
        sharers(line, d).take(domains_of_llc(llc), [&](auto domain) {
            each_copy(domain, line, [&](PrivateCaches&) { ++n[back_invalidations]; });
            dirty |= is_dirty(drop_private(domain, line));
            tell_lost(domain, line, false);
            if (d.owner_plus_one == domain + 1) d.owner_plus_one = 0;
        });
    }
    if (dirty) {
        ++n[llc_writebacks];
        write_dram(node_of_llc_[llc], line);
    }
    if (Asked<kind>::limits_directory(machine_) && d.llcs == 0 && in_no_core<kind>(line, d))
        untrack(line);
}

}  // namespace autofinity::sim
