// Foresight: what the next accesses of a core will look at, should they miss, is brought into the
// host's caches while earlier accesses are carried out.
//
// A replayed miss depends on loads that the host misses itself, one after the other:
//
//     its line's directory entry and page, and the set of a finite directory
//     the line that leaves the L2 for it ── directory entry, LLC set
//     the line that leaves the LLC ── directory entry, set of a finite directory
//
// and so does a page walk whose entry is not in the L2. What is known first is begun the farthest
// ahead. All of it is inlined, for a compiler may take a function that only prefetches for one that
// does nothing.
#pragma once

#include <algorithm>

#include "memory.hpp"

namespace autofinity::sim {

[[gnu::always_inline]] inline bool Memory::will_miss(PrivateCaches& c, const Step& step) {
    return is_access(step) && c.l1.find(c.l1.at(step.line), step.line) < 0;
}

// Whether the page is mapped and in none of the core's TLBs, so that a walk will read its entry.
[[gnu::always_inline]] inline bool Memory::will_walk(PrivateCaches& c, std::uint32_t page) const {
    const std::uint32_t unit = c.units.of(page);
    return c.side.walk_reads_caches && !c.tlb1.holds(unit) && pages_.mapped(page) &&
           c.tlb2.find(c.tlb2.at(unit), unit) < 0;
}

// The line that leaves the L2 when `line` comes into the core; 0: none.
[[gnu::always_inline]] inline Line Memory::out_of_l2(PrivateCaches& c, Line line) const {
    const Word out = c.exclusive_levels ? c.l1.last(line) : 0;
    return line_of(c.l2.last(pages_.physical(out != 0 ? line_of(out) : line)));
}

[[gnu::always_inline]] inline void Memory::foresee_line(PrivateCaches& c, const Step& step) const {
    if (!will_miss(c, step)) return;
    __builtin_prefetch(&directory_[step.line], 1);
    pages_.prefetch(step.line);
}

[[gnu::always_inline]] inline void Memory::foresee_victim(PrivateCaches& c,
                                                          const Step& step) const {
    if (!will_miss(c, step)) return;
    const std::uint32_t page = step.line >> page_shift;
    if (!pages_.mapped(page)) return;
    const Sets& llc = *llcs_[c.llc];
    const auto leaves_l2 = [&](Line out) {
        if (out == 0) return;
        __builtin_prefetch(&directory_[out], 1);
        if (!machine_.llc_inclusive) llc.prefetch(pages_.physical(out));
    };
    if (!filters_.empty()) filters_[pages_.node(page)]->prefetch(pages_.physical(step.line));
    if (machine_.llc_inclusive) llc.prefetch(pages_.physical(step.line));
    leaves_l2(out_of_l2(c, step.line));
    if (will_walk(c, page)) {
        const Line entry = c.units.entry(page);
        __builtin_prefetch(&directory_[entry], 1);
        llc.prefetch(pages_.physical(entry));
        leaves_l2(line_of(c.l2.last(pages_.physical(entry))));
    }
}

[[gnu::always_inline]] inline void Memory::foresee_llc_victim(PrivateCaches& c,
                                                              const Step& step) const {
    if (!will_miss(c, step)) return;
    const std::uint32_t page = step.line >> page_shift;
    if (!pages_.mapped(page)) return;
    const auto leaves_llc = [&](Line in) {
        if (in == 0) return;
        const Line out = line_of(llcs_[c.llc]->last(pages_.physical(in)));
        if (out == 0) return;
        __builtin_prefetch(&directory_[out], 1);
        if (!filters_.empty())
            filters_[pages_.node(out >> page_shift)]->prefetch(pages_.physical(out));
    };
    leaves_llc(machine_.llc_inclusive ? step.line : out_of_l2(c, step.line));
    if (will_walk(c, page)) {
        const Line entry = c.units.entry(page);
        leaves_llc(machine_.llc_inclusive ? entry : line_of(c.l2.last(pages_.physical(entry))));
    }
}

[[gnu::always_inline]] inline void Memory::foresee(PrivateCaches& c, const Step* at,
                                                   std::size_t passed) const {
    // Of the steps that came within `ahead` since the last time; only the farthest one when that
    // is long ago.
    const auto each = [&](std::size_t ahead, auto&& look) {
        const std::size_t fresh = passed <= ahead ? passed : 1;
        for (std::size_t i = ahead - fresh + 1; i <= ahead; ++i) look(at[i]);
    };
    each(steps_foreseen, [&](const Step& step) { foresee_line(c, step); });
    each(4, [&](const Step& step) { foresee_victim(c, step); });
    each(2, [&](const Step& step) { foresee_llc_victim(c, step); });
}

[[gnu::always_inline]] inline void Memory::foresee_derived(std::uint32_t slot,
                                                           const Step* at) const {
    constexpr std::ptrdiff_t far = steps_foreseen, near = 3;
    if (at[far].kind >= kind_derived && at[far].kind < kind_tally) {
        __builtin_prefetch(&directory_[at[far].line], 1);
        pages_.prefetch(at[far].line);
    }
    if (at[near].kind == kind_leave)
        llcs_[cores_[slot]->llc]->prefetch(pages_.physical(at[near].line));
}

}  // namespace autofinity::sim
