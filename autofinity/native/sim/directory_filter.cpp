// Probe filter: a directory of finite size at each home node. A line that any cache holds has an
// entry there; the entry that makes room for another one takes all copies of its line with it.
//
// Caches tell the filter of every line they drop, so no entry outlives its copies (real filters
// hear of dirty victims only and keep stale entries for the clean ones).
#include "bits.hpp"
#include "memory.hpp"

namespace autofinity::sim {

void Memory::track(Line line, bool held) {
    Sets& filter = filters_[pages_.node(line >> page_shift)];
    Word* set = filter.at(pages_.physical(line));
    if (held)
        if (const int way = filter.find(set, line); way >= 0) {
            to_front(set, way, set[way]);
            return;
        }
    if (const Word out = filter.insert(set, word_of(line, shared)); out != 0) {
        ++(*counts_)[directory_evictions];
        recall(line_of(out));
    }
}

void Memory::untrack(Line line) {
    Sets& filter = filters_[pages_.node(line >> page_shift)];
    Word* set = filter.at(pages_.physical(line));
    if (const int way = filter.find(set, line); way >= 0) filter.remove(set, way);
}

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
