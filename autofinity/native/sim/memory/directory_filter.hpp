// Probe filter: a directory of finite size at each home node. A line that any cache holds has an
// entry there; the entry that makes room for another one takes all copies of its line with it.
//
// Caches tell the filter of every line they drop, so no entry outlives its copies (real filters
// hear of dirty victims only and keep stale entries for the clean ones).
#pragma once

#include "memory.hpp"

namespace autofinity::sim {

// Of a line whose page is mapped.
[[gnu::always_inline]] inline Word* Memory::filter_set(Line line) const {
    return filters_.at(pages_.node(line >> page_shift), pages_.physical(line));
}

[[gnu::always_inline]] inline void Memory::track(Line line, bool held) {
    Word* set = filter_set(line);
    if (held)
        if (const int way = filters_.find(set, line); way >= 0) {
            filters_.to_front(set, way, set[way]);
            return;
        }
    if (const Word out = filters_.insert(set, word_of(line, shared)); out != 0) {
        ++(*counts_)[directory_evictions];
        recall(line_of(out));
    }
}

[[gnu::always_inline]] inline void Memory::untrack(Line line) {
    filters_.take_out(filter_set(line), line);
}

// Begins to bring the set of such a line into the host's caches; returns it.
[[gnu::always_inline]] inline const Word* Memory::foresee_filter(Line line) const {
    const Word* const set = filter_set(line);
    filters_.bring_near(set);
    return set;
}

}  // namespace autofinity::sim
