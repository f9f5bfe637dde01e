// The copies of a line that the cores of an L2 domain have.
#pragma once

#include "memory.hpp"

namespace autofinity::sim {

// Visits the valid words that other cores of the domain have for a line: their cached_cores and
// words.
template <typename Visit>
inline void Memory::each_sibling_copy(const PrivateCaches& c, Line line, Visit&& visit) {
    for (const std::uint32_t cached_core : l2_domains_[c.domain]->cores) {
        PrivateCaches& other = *cores_[cached_core];
        if (&other == &c) continue;
        Word* set = other.l1.at(line);
        const int way = other.l1.find(set, line);
        if (way >= 0 && state_of(set[way]) != invalid) visit(cached_core, set[way]);
    }
}

template <typename Visit>
inline void Memory::each_copy(std::uint32_t domain, Line line, Visit&& visit) {
    const L2Domain& d = *l2_domains_[domain];
    bool any = false;
    if (d.shared)
        for (const std::uint32_t cached_core : d.cores) {
            PrivateCaches& c = *cores_[cached_core];
            const Word* set = c.l1.at(line);
            const int way = c.l1.find(set, line);
            if (way < 0 || state_of(set[way]) == invalid) continue;
            any = true;
            visit(c);
        }
    if (!any) visit(*d.first);
}

// The core that answers for a copy of its domain: the first that has it in its L1, if any.
[[gnu::always_inline]] inline Counts& Memory::counts_of_copy(std::uint32_t domain, Line line) {
    Counts* counts = nullptr;
    each_copy(domain, line, [&](PrivateCaches& c) {
        if (counts == nullptr) counts = c.counts;
    });
    return *counts;
}

}  // namespace autofinity::sim
