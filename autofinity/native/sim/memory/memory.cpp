#include "memory.hpp"

#include <algorithm>

#include "invariants.hpp"

namespace autofinity::sim {
namespace {

std::uint32_t cores_at_a_time(const MachineModel& machine, const Program& program) {
    const auto cores = static_cast<std::uint32_t>(machine.topology.cores());
    return program.streams.size() <= domains_in_a_word ? domains_in_a_word
                                                       : std::max(domains_in_a_word, cores);
}

}  // namespace

Memory::Memory(const MachineModel& machine, const Program& program, PageSettings page_settings,
               std::uint64_t seed)
    : kind_(kind_of(machine, cores_at_a_time(machine, program))),
      coherence_(machine, program, std::move(page_settings), seed,
                 cores_at_a_time(machine, program)),
      translation_(coherence_),
      prefetching_(coherence_),
      migration_(hierarchy(), translation_),
      foresight_(hierarchy(), kind_),
      under_way_{.counts = &hierarchy().cores.nobody()} {
    under_way_.lost.reserve(most_cached_cores());
}

void Memory::release(std::uint32_t cached_core) {
    PrivateCaches& c = hierarchy().cores[cached_core];
    under_way_.counts = &hierarchy().cores.nobody();
    if (hierarchy().cores.domain(c.domain).cores().size() == 1) hierarchy().empty(c, under_way_);
    hierarchy().cores.release(cached_core);
}

// Kept apart from the path of an access, which needs all registers of a host.
[[gnu::noinline]] Ticks Memory::take_fault(std::uint32_t cached_core, Line line) {
    return translation_.fault(hierarchy().cores[cached_core], line);
}

Moved Memory::move_page(std::uint32_t page, std::uint32_t node, Ticks now) {
    under_way_.now = now;
    under_way_.counts = &hierarchy().cores.nobody();
    return migration_.move(page, node, under_way_);
}

Ticks Memory::transfer(std::uint32_t from_core, std::uint32_t to_core) const {
    const MachineModel& machine = hierarchy().machine;
    const auto& topology = machine.topology;
    if (from_core != to_core && topology.l2_of_core()[from_core] == topology.l2_of_core()[to_core])
        return machine.classes[machine.class_of_core[to_core]].side.l2_hit;
    return machine.load_modified[hierarchy().interconnect.distance(
        topology.llc_of_core()[from_core], topology.llc_of_core()[to_core])];
}

void Memory::check() const { Invariants(hierarchy()).check(); }

bool Memory::hits_l1(std::uint32_t cached_core, const Step& step) const {
    const L1Sets& l1 = hierarchy().cores[cached_core].l1;
    const Word* set = l1.at(step.line());
    const int way = l1.find(set, step.line());
    return way >= 0 && state_of(set[way]) != invalid;
}

Served Memory::access(std::uint32_t cached_core, const Step& step, Ticks now, bool faulted) {
    PrivateCaches& c = hierarchy().cores[cached_core];
    switch (kind_) {
        case MachineKind::exclusive:
            return access_on<MachineKind::exclusive>(c, step, now, faulted);
        case MachineKind::victim:
            return access_on<MachineKind::victim>(c, step, now, faulted);
        case MachineKind::inclusive:
            return access_on<MachineKind::inclusive>(c, step, now, faulted);
        default:
            return access_on<MachineKind::any>(c, step, now, faulted);
    }
}

Ticks Memory::change_entry(std::uint32_t cached_core, Line line, Ticks now) {
    PrivateCaches& c = hierarchy().cores[cached_core];
    switch (kind_) {
        case MachineKind::exclusive:
            return change_entry_on<MachineKind::exclusive>(c, line, now);
        case MachineKind::victim:
            return change_entry_on<MachineKind::victim>(c, line, now);
        case MachineKind::inclusive:
            return change_entry_on<MachineKind::inclusive>(c, line, now);
        default:
            return change_entry_on<MachineKind::any>(c, line, now);
    }
}

template <MachineKind kind>
[[gnu::noinline]] Ticks Memory::change_entry_on(PrivateCaches& c, Line line, Ticks now) {
    under_way_.counts = &*c.counts;
    under_way_.now = now;
    bool missed = false;
    return translation_.entry<kind>(c, line, true, now, missed, under_way_);
}

template <MachineKind kind>
[[gnu::noinline]] Served Memory::access_on(PrivateCaches& c, const Step& step, Ticks now,
                                           bool faulted) {
    Hierarchy& h = hierarchy();
    Counts& n = *c.counts;
    UnderWay& w = under_way_;
    w.counts = &n;
    w.now = now;
    w.room = 0;
    const Line line = step.line();
    const Ticks walk = translation_.translate<kind>(c, line >> page_shift, now, faulted, w);
    const bool atomic = step.is_atomic();
    const bool writes = step.writes() != 0;
    const bool reads_first = step.reads() != 0 && !(writes && (atomic || step.writes_first()));
    Ticks ready = now;
    bool contended = false;
    std::uint8_t supplied = 0;
    Word* set = c.l1.at(line);
    const int way = c.l1.find(set, line);
    Word state = way >= 0 ? state_of(set[way]) : Word{invalid};
    bool missed = false;  // and the prefetcher must be trained with it
    if (state != invalid) {
        c.l1.to_front(set, way, set[way]);
    } else {
        if (way >= 0) ++n[coherence_misses];
        ++n[data_cache_misses];
        // The directory knows, and is the next to be asked if the line is not there.
        const bool in_l2 = h.directory.holds<kind>(c.domain, line);
        const bool was_there =
            Asked<kind>::has_l2(c)
                ? in_l2
                : (h.directory[line].llcs >> h.llc_for<kind>(c.llc, line) & 1) != 0;
        if (Asked<kind>::has_l2(c)) ++n[l2_accesses];
        if (in_l2) {
            Word* set2 = c.l2.at(h.pages.physical(line));
            const int way2 = c.l2.find(set2, line);
            state = state_of(set2[way2]);
            ++n[data_cache_refills_from_l2];
            ready = now + c.side.l2_hit;
            if (Asked<kind>::levels_exclude(c))
                c.l2.remove(set2, way2);
            else
                c.l2.to_front(set2, way2, set2[way2]);
            if (Asked<kind>::shares_l2(c)) [[unlikely]]
                state = h.cores.domain(c.domain).take(c, line, reads_first || !writes, now, ready,
                                                      contended, w);
        } else {
            if (Asked<kind>::has_l2(c)) ++n[l2_misses];
            ++n[data_cache_refills_from_northbridge];
            const Request request = reads_first ? Request::load
                                    : atomic    ? Request::atomic
                                                : Request::store;
            w.supplied = 0;
            if constexpr (Asked<kind>::known)
                ready =
                    coherence_.fetch_line<kind, false>(c, line, request, now, state, contended, w);
            else
                ready = coherence_.fetch<kind>(c, line, request, now, state, contended, w);
            supplied = w.supplied;
            if (!Asked<kind>::levels_exclude(c)) h.into_l2<kind>(c, line, state, w);
        }
        h.into_l1<kind>(c, set, way, word_of(line, state), w);
        ready = std::max(ready, w.room);
        if (c.prefetcher.present()) {
            ready = prefetching_.arrival<kind>(c, line, was_there, ready, w);
            missed = true;
        }
    }
    if (writes && (state == shared || state == owned))
        ready = coherence_.upgrade(c, line, atomic, ready, contended, w);
    else if (writes && state == exclusive)
        set[0] = word_of(line, modified);
    // Training comes last, because its fetches may evict the line again.
    if (missed) prefetching_.train<kind>(c, line, now, w);
    return {ready + walk, contended, supplied};
}

}  // namespace autofinity::sim
