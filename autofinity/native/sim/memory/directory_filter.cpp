// What a probe filter that is full takes back.
#include "directory_filter.hpp"

#include "bits.hpp"
#include "copies.hpp"
#include "traffic.hpp"

namespace autofinity::sim {

void Memory::recall(Line line) {
    DirectoryLine& d = directory_[line];
    Counts& n = *counts_;
    const std::uint32_t home = pages_.node(line >> page_shift);
    bool dirty = d.dirty_llc_plus_one != 0;
    std::uint32_t from = dirty ? node_of_llc_[d.dirty_llc_plus_one - 1u] : home;
    sharers(line, d).each([&](auto domain) {
        each_copy(domain, line, [&](PrivateCaches&) { ++n[back_invalidations]; });
        if (is_dirty(drop_private(domain, line))) {
            dirty = true;
            from = l2_domains_[domain]->node;
        }
        tell_lost(domain, line, false);
        signal(home, l2_domains_[domain]->node);
    });
    each_bit(d.llcs, [&](auto llc) { llc_remove(llc, line); });
    if (dirty) write_dram(from, line);
    forget(line);
}

}  // namespace autofinity::sim
