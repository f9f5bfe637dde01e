#include "foresight.hpp"

#include <algorithm>

#include "bits.hpp"
#include "host_cache.hpp"

namespace autofinity::sim {
namespace {

constexpr std::size_t near_bytes = std::size_t{4} << 20;  // of a directory in a host's own caches

// Steps ahead at which each kind of load is begun, in the order in which they depend on each other.
constexpr std::size_t l1_set_ahead = 5, line_ahead = 4, move_ahead = 3, llc_victim_ahead = 1;
static_assert(l1_set_ahead <= steps_foreseen);

// Number of steps from one step to another; very many when the other is in another array, or
// behind.
std::size_t steps_between(const Step* from, const Step* to) {
    const auto bytes =
        reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
    return bytes / sizeof(Step);
}

// Visits those of `steps` that came within `ahead` while `passed` steps were carried out, and are
// still to come.
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

Foresight::Foresight(const Hierarchy& hierarchy, MachineKind kind)
    : hierarchy_(hierarchy),
      kind_(kind),
      pays_(hierarchy.directory.size() * sizeof(DirectoryLine) >= near_bytes) {}

// Facts of an access that will miss: its own line and the line that the prefetcher may bring into
// the L2 with it, the sets of the L2 that change, and the set of the page-table entry that a walk
// looks up.
template <MachineKind kind>
[[gnu::always_inline]] inline void Foresight::lines(PrivateCaches& c, Line line,
                                                    ForeseenMiss& known) const {
    known = {};
    bring_near(&hierarchy_.directory[line]);
    const std::uint32_t page = line >> page_shift;
    if (!hierarchy_.pages.mapped(page)) return;
    const auto near_set = [&](Line of) {
        const Word* const set = c.l2.at(hierarchy_.pages.physical(of));
        c.l2.bring_near(set);
        return set;
    };
    // An L2 that excludes the L1 receives the lines that leave the L1. Whether its set is full is
    // not predicted: line 0, whose record is near, stands for no line.
    known.into = near_set(Asked<kind>::levels_exclude(c) ? line_of(c.l1.last(line)) : line);
    if (const std::uint32_t unit = c.units.of(page);
        c.side.walk_reads_caches && !c.tlb1.holds(unit))
        near_set(c.units.entry(page));
    if (!c.prefetcher.present() || !Asked<kind>::has_l2(c)) return;
    known.ahead = c.prefetcher.would_fetch(line);
    if (known.ahead == 0) return;
    bring_near(&hierarchy_.directory[known.ahead]);
    known.ahead_into = near_set(known.ahead);
}

// A line gets or loses an entry in a finite directory. Returns the set.
[[gnu::always_inline]] inline const Word* Foresight::filter(Line line) const {
    return hierarchy_.filters.bring_near(hierarchy_.pages.home(line),
                                         hierarchy_.pages.physical(line));
}

// A line that the core lacks is fetched. Returns the set that the line enters in an LLC that has
// all lines of its cores.
template <MachineKind kind>
[[gnu::always_inline]] inline const Word* Foresight::fetch(const PrivateCaches& c,
                                                           Line line) const {
    const bool into_llc = Asked<kind>::llc_includes(hierarchy_.machine);
    const std::uint32_t llcs = hierarchy_.directory[line].llcs;
    if (!into_llc && llcs == 0) return nullptr;
    const std::uint32_t llc = hierarchy_.llc_for<kind>(c.llc, line);
    if (!into_llc && (llcs >> llc & 1) == 0) return nullptr;
    const Word* set = hierarchy_.llcs.bring_near(llc, hierarchy_.pages.physical(line));
    return into_llc ? set : nullptr;
}

// The last line in a set of the L2 leaves the core. Returns the set of the LLC that the line
// enters, if it does.
template <MachineKind kind>
[[gnu::always_inline]] inline const Word* Foresight::leaving(const PrivateCaches& c,
                                                             const Word* l2_set) const {
    const Line out = line_of(c.l2.last_of(l2_set));
    if (out == 0) return nullptr;
    bring_near(&hierarchy_.directory[out]);
    if (Asked<kind>::llc_includes(hierarchy_.machine)) return nullptr;
    return hierarchy_.llcs.bring_near(hierarchy_.llc_for<kind>(c.llc, out),
                                      hierarchy_.pages.physical(out));
}

// Sets for the line that enters the core for an access that will miss, and for the line that leaves
// it.
template <MachineKind kind>
[[gnu::always_inline]] inline void Foresight::moves(const PrivateCaches& c, Line line,
                                                    ForeseenMiss& known) const {
    if (known.into == nullptr) return;
    const auto move = [&](Line in, bool fetched, const Word* l2_set) {
        if (Asked<kind>::limits_directory(hierarchy_.machine) && fetched)
            known.tracked = filter(in);
        const Word* const included = fetched ? fetch<kind>(c, in) : nullptr;
        const Word* const victim = leaving<kind>(c, l2_set);
        return Asked<kind>::llc_includes(hierarchy_.machine) ? included : victim;
    };
    const bool fetched = !hierarchy_.directory.holds<kind>(c.domain, line);
    if (Asked<kind>::levels_exclude(c) && !fetched)
        c.l2.bring_near(c.l2.at(hierarchy_.pages.physical(line)));
    known.into = move(line, fetched, known.into);
    if (known.ahead != 0)
        known.ahead_into = hierarchy_.directory.holds<kind>(c.domain, known.ahead)
                               ? nullptr
                               : move(known.ahead, true, known.ahead_into);
}

// The line that a full set of a finite directory recalls for a line that is fetched.
[[gnu::always_inline]] inline void Foresight::recall(const Word* set) const {
    if (set != nullptr) bring_near(&hierarchy_.directory[hierarchy_.filters.victim(set)]);
}

// The line that leaves the LLC for a line that enters one of its sets.
template <MachineKind kind>
[[gnu::always_inline]] inline void Foresight::leaving_llc(const Word* set) const {
    if (set == nullptr) return;
    const Line out = hierarchy_.llcs.victim(set);
    if (out == 0) return;
    bring_near(&hierarchy_.directory[out]);
    if (Asked<kind>::limits_directory(hierarchy_.machine)) filter(out);
}

// `passed`: steps since the last time. Everything is inlined: it is a few dozen instructions.
template <MachineKind kind>
[[gnu::always_inline]] inline void Foresight::look_since(PrivateCaches& c, const Step* at,
                                                         Foreseen& seen, std::size_t passed) const {
    each_fresh(~0u, line_ahead, passed, [&](auto i) __attribute__((always_inline)) {
        const Step& step = at[i];
        if (!step.is_access() || c.l1.find(c.l1.at(step.line()), step.line()) >= 0) return;
        seen.misses |= 1u << i;
        lines<kind>(c, step.line(), seen.of(at + i));
    });
    each_fresh(seen.misses, move_ahead, passed, [&](auto i) __attribute__((always_inline)) {
        moves<kind>(c, at[i].line(), seen.of(at + i));
    });
    each_fresh(seen.misses, llc_victim_ahead, passed, [&](auto i) __attribute__((always_inline)) {
        const ForeseenMiss& known = seen.of(at + i);
        if (Asked<kind>::limits_directory(hierarchy_.machine)) recall(known.tracked);
        leaving_llc<kind>(known.into);
        leaving_llc<kind>(known.ahead_into);
    });
}

template <MachineKind kind>
[[gnu::noinline]] void Foresight::look_ahead_on(PrivateCaches& c, const Step* at,
                                                Foreseen& seen) const {
    const std::size_t passed = steps_between(seen.at, at);
    seen.at = at;
    bring_near(c.l1.at(at[l1_set_ahead].line()));
    // After a jump the next steps have no known state: the farthest ones are looked up.
    seen.misses = passed <= move_ahead ? seen.misses >> passed : 0;
    if (passed == 1 || passed > move_ahead)
        look_since<kind>(c, at, seen, 1);
    else
        look_since<kind>(c, at, seen, passed);
}

[[gnu::noinline]] void Foresight::look_ahead(PrivateCaches& c, const Step* at,
                                             Foreseen& seen) const {
    switch (kind_) {
        case MachineKind::exclusive:
            return look_ahead_on<MachineKind::exclusive>(c, at, seen);
        case MachineKind::victim:
            return look_ahead_on<MachineKind::victim>(c, at, seen);
        case MachineKind::inclusive:
            return look_ahead_on<MachineKind::inclusive>(c, at, seen);
        default:
            return look_ahead_on<MachineKind::any>(c, at, seen);
    }
}

}  // namespace autofinity::sim
