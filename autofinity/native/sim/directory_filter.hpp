// Probe filter: a directory of finite size at each home node. A line that any cache holds has an
// entry there; the entry that makes room for another one takes all copies of its line with it.
//
// Caches tell the filter of every line they drop, so no entry outlives its copies (real filters
// hear of dirty victims only and keep stale entries for the clean ones).
#pragma once

#include "memory.hpp"

namespace autofinity::sim {

[[gnu::always_inline]] inline void Memory::track(Line line, bool held) {
    Sets& filter = filters_[pages_.node(line >> page_shift)];
    Word* set = filter.at(pages_.physical(line));
    if (held)
        if (const int way = filter.find(set, line); way >= 0) {
            filter.to_front(set, way, set[way]);
            return;
        }
    if (const Word out = filter.insert(set, word_of(line, shared)); out != 0) {
        ++(*counts_)[directory_evictions];
        recall(line_of(out));
    }
}

[[gnu::always_inline]] inline void Memory::untrack(Line line) {
    Sets& filter = filters_[pages_.node(line >> page_shift)];
    Word* set = filter.at(pages_.physical(line));
    if (const int way = filter.find(set, line); way >= 0) filter.remove(set, way);
}

// Begins to bring the line's set of a finite directory into the host's caches.
[[gnu::always_inline]] inline void Memory::foresee_filter(Line line) const {
    const std::uint32_t page = line >> page_shift;
    if (!filters_.empty() && pages_.mapped(page))
        filters_[pages_.node(page)].bring_near(pages_.physical(line));
}

}  // namespace autofinity::sim
