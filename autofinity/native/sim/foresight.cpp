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
// is begun the farthest ahead, and what one stage has found the next ones need not look for.
#include <algorithm>

#include "bits.hpp"
#include "directory_filter.hpp"

namespace autofinity::sim {
namespace {

// Steps ahead at which each kind of load is begun, in the order in which they depend on each other.
constexpr std::size_t l1_set_ahead = steps_foreseen, line_ahead = 5, set_ahead = 4,
                      victim_ahead = 3, llc_victim_ahead = 1;

// How many steps on `to` is; very many when it is in another array, or back.
std::size_t steps_between(const Step* from, const Step* to) {
    const auto bytes =
        reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
    return bytes / sizeof(Step);
}

// Visits those of `steps` that came within `ahead` as `passed` steps went by, and are still to
// come.
template <typename Visit>
[[gnu::always_inline]] inline void each_fresh(std::uint32_t steps, std::size_t ahead,
                                              std::size_t passed, Visit&& visit) {
    if (passed == 1) {
        if ((steps >> ahead & 1) != 0) visit(ahead);
        return;
    }
    each_bit(steps & ((2u << ahead) - (2u << (ahead - std::min(ahead, passed)))), visit);
}

}  // namespace

// Whether the page, a mapped one, is in none of the core's TLBs, so that a walk will read its
// entry.
[[gnu::always_inline]] inline bool Memory::will_walk(PrivateCaches& c, std::uint32_t page) const {
    if (!c.side.walk_reads_caches) return false;
    const std::uint32_t unit = c.units.of(page);
    return !c.tlb1.holds(unit) && c.tlb2.find(c.tlb2.at(unit), unit) < 0;
}

// What is known of an access that will miss: its own line, and that which the prefetcher may bring
// into the L2 with it.
[[gnu::always_inline]] inline void Memory::foresee_lines(PrivateCaches& c, Line line,
                                                         ForeseenMiss& known) const {
    known = {};
    bring_near(&directory_[line]);
    pages_.bring_near(line);
    if (!c.prefetcher.present() || !c.has_l2) return;
    known.ahead = c.prefetcher.would_fetch(line);
    bring_near(&directory_[known.ahead]);
}

// The sets of the L2 that change when the line comes into the core, and what a walk begins with.
[[gnu::always_inline]] inline void Memory::foresee_sets(PrivateCaches& c, Line line,
                                                        ForeseenMiss& known) const {
    c.prefetcher.bring_near(line);
    const std::uint32_t page = line >> page_shift;
    if (!pages_.mapped(page)) return;
    known.line_into_l2 = pages_.physical(line);
    c.l2.bring_near(known.line_into_l2);
    if (c.exclusive_levels) {
        // Whether the L1 set is full is not guessed: line 0, whose record is near, stands for
        // nobody.
        const Line out = line_of(c.l1.last(line));
        const std::uint32_t out_into_l2 = pages_.physical(out);
        if (out != 0) known.line_into_l2 = out_into_l2;
        c.l2.bring_near(known.line_into_l2);
    }
    if (known.ahead != 0 && holds(c.domain, known.ahead)) known.ahead = 0;
    if (known.ahead != 0) {
        known.ahead_into_l2 = pages_.physical(known.ahead);
        c.l2.bring_near(known.ahead_into_l2);
    }
    if (will_walk(c, page)) {
        known.entry = c.units.entry(page);
        bring_near(&directory_[known.entry]);
        if (pages_.mapped(known.entry >> page_shift)) c.l2.bring_near(pages_.physical(known.entry));
    }
}

// The line comes into the core, if it is not there, and for it what is last in the L2 set of
// `into_l2` leaves: where they come from and go to. Returns what comes into the LLC; 0: nothing.
[[gnu::always_inline]] inline std::uint32_t Memory::foresee_fetch(PrivateCaches& c, Line line,
                                                                  std::uint32_t into_l2) const {
    const Sets& llc = llcs_[c.llc];
    const bool fetched = !holds(c.domain, line);
    if (fetched) {
        foresee_filter(line);
        if (machine_.llc_inclusive || (directory_[line].llcs >> c.llc & 1) != 0)
            llc.bring_near(pages_.physical(line));
    }
    const Line out = line_of(c.l2.last(into_l2));  // 0, nobody, like any other
    bring_near(&directory_[out]);
    if (machine_.llc_inclusive) return fetched ? pages_.physical(line) : 0;
    const std::uint32_t into_llc = pages_.physical(out);
    llc.bring_near(into_llc);
    return into_llc;
}

[[gnu::always_inline]] inline void Memory::foresee_victim(PrivateCaches& c, Line line,
                                                          ForeseenMiss& known) const {
    if (known.line_into_l2 == 0) return;
    known.line_into_llc = foresee_fetch(c, line, known.line_into_l2);
    if (known.ahead != 0) known.ahead_into_llc = foresee_fetch(c, known.ahead, known.ahead_into_l2);
    // Most walks find the entry in the core.
    if (known.entry != 0 && !holds(c.domain, known.entry))
        known.entry_into_llc = foresee_fetch(c, known.entry, pages_.physical(known.entry));
}

// What leaves the LLC for a line that comes into it.
[[gnu::always_inline]] inline void Memory::foresee_leaving_llc(const Sets& llc,
                                                               std::uint32_t into_llc) const {
    if (into_llc == 0) return;
    const Line out = line_of(llc.last(into_llc));
    if (out == 0) return;
    bring_near(&directory_[out]);
    foresee_filter(out);
}

[[gnu::always_inline]] inline void Memory::foresee_llc_victim(const PrivateCaches& c,
                                                              const ForeseenMiss& known) const {
    const Sets& llc = llcs_[c.llc];
    foresee_leaving_llc(llc, known.line_into_llc);
    foresee_leaving_llc(llc, known.ahead_into_llc);
    foresee_leaving_llc(llc, known.entry_into_llc);
}

// `passed`: steps since the last time. Everything is inlined: a stage is a few dozen instructions.
[[gnu::always_inline]] inline void Memory::foresee_since(PrivateCaches& c, const Step* at,
                                                         Foreseen& seen, std::size_t passed) const {
    each_fresh(~0u, line_ahead, passed, [&](auto i) {
        const Step& step = at[i];
        if (!is_access(step) || c.l1.find(c.l1.at(step.line), step.line) >= 0) return;
        seen.misses |= 1u << i;
        foresee_lines(c, step.line, seen.of(at + i));
    });
    each_fresh(seen.misses, set_ahead, passed, [&](auto i) __attribute__((always_inline)) {
        foresee_sets(c, at[i].line, seen.of(at + i));
    });
    each_fresh(seen.misses, victim_ahead, passed, [&](auto i) __attribute__((always_inline)) {
        foresee_victim(c, at[i].line, seen.of(at + i));
    });
    each_fresh(seen.misses, llc_victim_ahead, passed, [&](auto i) __attribute__((always_inline)) {
        foresee_llc_victim(c, seen.of(at + i));
    });
}

void Memory::foresee(PrivateCaches& c, const Step* at, Foreseen& seen) const {
    const std::size_t passed = steps_between(seen.at, at);
    seen.at = at;
    bring_near(c.l1.at(at[l1_set_ahead].line));
    // After a jump nothing is known of the steps at hand: the farthest ones are looked at.
    seen.misses = passed <= set_ahead ? seen.misses >> passed : 0;
    if (passed == 1 || passed > set_ahead)
        foresee_since(c, at, seen, 1);
    else
        foresee_since(c, at, seen, passed);
}

}  // namespace autofinity::sim
