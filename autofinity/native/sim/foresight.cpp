// Foresight: what the next accesses of a core will look at, should they miss, is brought into the
// host's caches while earlier accesses are carried out.
//
// A replayed miss depends on loads that the host misses itself, one after the other:
//
//     its line's directory entry and page, and the set of a finite directory
//     the L2 set that it comes into, and that of the line which leaves an exclusive L1 for it
//     the line that leaves the L2 for it ── directory entry, LLC set
//     the line that leaves the LLC ── directory entry, set of a finite directory
//
// and so do a page walk whose entry is not in the L2, and the line that a prefetcher fetches with
// it: where streams are fetched ahead, most lines come into the core that way. What is known first
// is begun the farthest ahead.
#include "bits.hpp"
#include "memory.hpp"

namespace autofinity::sim {
namespace {

// Steps ahead at which each kind of load is begun.
constexpr std::size_t line_ahead = steps_foreseen, set_ahead = 5, victim_ahead = 3,
                      llc_victim_ahead = 1;

// How many steps on `to` is; very many when it is in another array, or back.
std::size_t steps_between(const Step* from, const Step* to) {
    const auto bytes =
        reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
    return bytes / sizeof(Step);
}

// Bits of the steps that came within `ahead` since `passed` steps; of the farthest one only when
// that is long ago.
std::uint32_t fresh(std::size_t ahead, std::size_t passed) {
    const std::size_t first = passed <= ahead ? ahead - passed : ahead - 1;
    return (2u << ahead) - (2u << first);
}

}  // namespace

// Whether the page is mapped and in none of the core's TLBs, so that a walk will read its entry.
bool Memory::will_walk(PrivateCaches& c, std::uint32_t page) const {
    const std::uint32_t unit = c.units.of(page);
    return c.side.walk_reads_caches && !c.tlb1.holds(unit) && pages_.mapped(page) &&
           c.tlb2.find(c.tlb2.at(unit), unit) < 0;
}

// The line that leaves the L2 when `line` comes into the core; 0: none.
Line Memory::out_of_l2(PrivateCaches& c, Line line) const {
    const Word out = c.exclusive_levels ? c.l1.last(line) : 0;
    return line_of(c.l2.last(pages_.physical(out != 0 ? line_of(out) : line)));
}

void Memory::foresee_filter(Line line) const {
    const std::uint32_t page = line >> page_shift;
    if (!filters_.empty() && pages_.mapped(page))
        filters_[pages_.node(page)].bring_near(pages_.physical(line));
}

// Where a line that leaves the L2 goes.
void Memory::foresee_leaving_l2(const Sets& llc, Line out) const {
    if (out == 0) return;
    bring_near(&directory_[out]);
    if (!machine_.llc_inclusive) llc.bring_near(pages_.physical(out));
}

// `in`: the line that comes into the LLC; 0: none.
void Memory::foresee_leaving_llc(const Sets& llc, Line in) const {
    if (in == 0) return;
    const Line out = line_of(llc.last(pages_.physical(in)));
    if (out == 0) return;
    bring_near(&directory_[out]);
    foresee_filter(out);
}

// The sets of the L2 that change when the line comes into the core, and what a walk begins with.
void Memory::foresee_sets(PrivateCaches& c, Line line) const {
    const std::uint32_t page = line >> page_shift;
    if (!pages_.mapped(page)) return;
    c.l2.bring_near(pages_.physical(line));
    if (const Line ahead = prefetched_with(c, line); ahead != 0)
        c.l2.bring_near(pages_.physical(ahead));
    if (c.exclusive_levels)
        if (const Line out = line_of(c.l1.last(line)); out != 0)
            c.l2.bring_near(pages_.physical(out));
    if (will_walk(c, page)) bring_near(&directory_[c.units.entry(page)]);
}

// `out`: the line that leaves the L2 for it; 0: none.
void Memory::foresee_fetch(PrivateCaches& c, Line line, Line out) const {
    const Sets& llc = llcs_[c.llc];
    if (!holds(c.domain, line)) {
        foresee_filter(line);
        if (machine_.llc_inclusive || (directory_[line].llcs >> c.llc & 1) != 0)
            llc.bring_near(pages_.physical(line));
    }
    foresee_leaving_l2(llc, out);
}

// The line that the prefetcher may bring into the L2 at a miss of `line`; 0: none.
Line Memory::prefetched_with(PrivateCaches& c, Line line) const {
    if (!c.prefetcher.present() || !c.has_l2) return 0;
    const Line ahead = c.prefetcher.would_fetch(line);
    return ahead != 0 && !holds(c.domain, ahead) ? ahead : 0;
}

void Memory::foresee_victim(PrivateCaches& c, Line line) const {
    const std::uint32_t page = line >> page_shift;
    if (!pages_.mapped(page)) return;
    foresee_fetch(c, line, out_of_l2(c, line));
    if (const Line ahead = prefetched_with(c, line); ahead != 0)
        foresee_fetch(c, ahead, line_of(c.l2.last(pages_.physical(ahead))));
    if (will_walk(c, page)) {
        const Line entry = c.units.entry(page);
        foresee_fetch(c, entry, line_of(c.l2.last(pages_.physical(entry))));
    }
}

void Memory::foresee_llc_victim(PrivateCaches& c, Line line) const {
    const std::uint32_t page = line >> page_shift;
    if (!pages_.mapped(page)) return;
    const Sets& llc = llcs_[c.llc];
    foresee_leaving_llc(llc, machine_.llc_inclusive ? line : out_of_l2(c, line));
    if (const Line ahead = prefetched_with(c, line); ahead != 0)
        foresee_leaving_llc(
            llc, machine_.llc_inclusive ? ahead : line_of(c.l2.last(pages_.physical(ahead))));
    if (will_walk(c, page)) {
        const Line entry = c.units.entry(page);
        foresee_leaving_llc(
            llc, machine_.llc_inclusive ? entry : line_of(c.l2.last(pages_.physical(entry))));
    }
}

void Memory::foresee(PrivateCaches& c, const Step* at, Foreseen& seen) const {
    const std::size_t passed = steps_between(seen.at, at);
    seen.at = at;
    seen.misses = passed <= line_ahead ? seen.misses >> passed : 0;
    each_bit(fresh(line_ahead, passed), [&](auto i) {
        const Step& step = at[i];
        if (!is_access(step) || c.l1.find(c.l1.at(step.line), step.line) >= 0) return;
        seen.misses |= 1u << i;
        bring_near(&directory_[step.line]);
        pages_.bring_near(step.line);
    });
    each_bit(seen.misses & fresh(set_ahead, passed), [&](auto i) { foresee_sets(c, at[i].line); });
    each_bit(seen.misses & fresh(victim_ahead, passed),
             [&](auto i) { foresee_victim(c, at[i].line); });
    each_bit(seen.misses & fresh(llc_victim_ahead, passed),
             [&](auto i) { foresee_llc_victim(c, at[i].line); });
}

void Memory::foresee_derived(std::uint32_t slot, const Step* at) const {
    constexpr std::ptrdiff_t far = steps_foreseen, near = 3;
    if (at[far].kind >= kind_derived && at[far].kind < kind_tally) {
        bring_near(&directory_[at[far].line]);
        pages_.bring_near(at[far].line);
    }
    if (at[near].kind == kind_leave)
        llcs_[cores_[slot]->llc].bring_near(pages_.physical(at[near].line));
}

}  // namespace autofinity::sim
