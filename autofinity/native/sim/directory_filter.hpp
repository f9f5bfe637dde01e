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
    filter.take_out(filter.at(pages_.physical(line)), line);
}

// Begins to bring the set of a line, whose page is mapped, into the host's caches; returns it.
[[gnu::always_inline]] inline const Word* Memory::foresee_filter(Line line) const {
    const Sets& filter = filters_[pages_.node(line >> page_shift)];
    const Word* const set = filter.at(pages_.physical(line));
    filter.bring_near(set);
    return set;
}

}  // namespace autofinity::sim
