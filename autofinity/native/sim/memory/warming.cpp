// Sets caches, directory and TLBs to their state in the middle of a run, without the run before it:
// the lines that each core touched last are touched once more, oldest first; those that have left
// the cores since are put into their LLC. The times and counts of these accesses are computed as
// usual and dropped afterwards.
#include "host_cache.hpp"
#include "memory.hpp"

namespace autofinity::sim {
namespace {

// A pseudo-random number from 0 to 1: the finaliser of SplitMix64.
double unit_interval(std::uint64_t from) {
    from += 0x9E3779B97F4A7C15u;
    from = (from ^ from >> 30) * 0xBF58476D1CE4E5B9u;
    from = (from ^ from >> 27) * 0x94D049BB133111EBu;
    return static_cast<double>((from ^ from >> 31) >> 11) * 0x1.0p-53;
}

}  // namespace

void Memory::place_page(std::uint32_t page, std::uint32_t node) {
    Pages& pages = hierarchy().pages;
    if (pages.mapped(page)) return;
    pages.map(page, node);
    const std::uint32_t table = pages.units.entry(page) >> page_shift;
    if (!pages.mapped(table)) pages.map_table(table, node);
}

void Memory::bring_line_near(std::uint32_t, Line line) const {
    bring_near(&hierarchy().directory[line]);
}

void Memory::bring_sets_near(std::uint32_t cached_core, Line line) const {
    const Hierarchy& h = hierarchy();
    const PrivateCaches& c = h.cores[cached_core];
    const std::uint32_t place = h.pages.physical(line);
    c.l2.bring_near(c.l2.at(place));
    h.llcs.bring_near(h.llc_for<MachineKind::any>(c.llc, line), place);
    if (h.filters.present()) h.filters.bring_near(h.pages.home(line), place);
}

void Memory::warm(std::uint32_t cached_core, Line line, bool writes) {
    PrivateCaches& c = hierarchy().cores[cached_core];
    switch (kind_) {
        case MachineKind::exclusive:
            return warm_on<MachineKind::exclusive>(c, line, writes);
        case MachineKind::victim:
            return warm_on<MachineKind::victim>(c, line, writes);
        case MachineKind::inclusive:
            return warm_on<MachineKind::inclusive>(c, line, writes);
        default:
            return warm_on<MachineKind::any>(c, line, writes);
    }
}

template <MachineKind kind>
void Memory::warm_on(PrivateCaches& c, Line line, bool writes) {
    Hierarchy& h = hierarchy();
    UnderWay& w = under_way_;
    w.counts = &h.cores.nobody();
    w.now = 0;
    Ticks ready = 0;
    bool contended = false;
    translation_.translate<kind>(c, line >> page_shift, 0, false, w);
    Word* set = c.l1.at(line);
    const int way = c.l1.find(set, line);
    Word state = way >= 0 ? state_of(set[way]) : Word{invalid};
    if (state != invalid) {
        c.l1.to_front(set, way, set[way]);
    } else {
        if (h.directory.holds<kind>(c.domain, line)) {
            Word* set2 = c.l2.at(h.pages.physical(line));
            const int way2 = c.l2.find(set2, line);
            state = state_of(set2[way2]);
            if (Asked<kind>::levels_exclude(c))
                c.l2.remove(set2, way2);
            else
                c.l2.to_front(set2, way2, set2[way2]);
            if (Asked<kind>::shares_l2(c))
                state = h.cores.domain(c.domain).take(c, line, !writes, 0, ready, contended, w);
        } else {
            coherence_.fetch<kind>(c, line, writes ? Request::store : Request::load, 0, state,
                                   contended, w);
            if (!Asked<kind>::levels_exclude(c)) h.into_l2<kind>(c, line, state, w);
        }
        h.into_l1<kind>(c, set, way, word_of(line, state), w);
    }
    if (writes && (state == shared || state == owned))
        coherence_.upgrade(c, line, false, 0, contended, w);
    else if (writes && state == exclusive)
        set[0] = word_of(line, modified);
    w.lost.clear();
}

void Memory::warm_llc(std::uint32_t cached_core, Line line, bool writes) {
    under_way_.counts = &hierarchy().cores.nobody();
    under_way_.now = 0;
    const PrivateCaches& c = hierarchy().cores[cached_core];
    const bool left = coherence_.leave_in_llc(c, line, writes, under_way_);
    under_way_.lost.clear();
    if (!left) warm(cached_core, line, writes);
}

void Memory::warm_tlbs(std::uint32_t cached_core, Line line) {
    under_way_.counts = &hierarchy().cores.nobody();
    PrivateCaches& c = hierarchy().cores[cached_core];
    translation_.translate<MachineKind::any>(c, line >> page_shift, 0, false, under_way_);
    under_way_.lost.clear();
}

// Each hit removes a line from such an LLC, and each line that enters fills a way of its set. So
// the number of empty ways of a set behaves as a queue with `share` arrivals for each departure: it
// is k or more with the probability share^k. Sets that already have empty ways are part of these.
void Memory::empty_ways(std::uint32_t llc, double share) {
    Llcs& llcs = hierarchy().llcs;
    std::uint32_t have = 0;
    for (std::uint32_t set = 0; set < llcs.sets(); ++set) have += llcs.empty_ways(llc, set) > 0;
    const double wanted = share * llcs.sets();
    if (wanted <= have) return;
    const double first = (wanted - have) / (llcs.sets() - have);
    for (std::uint32_t set = 0; set < llcs.sets(); ++set) {
        if (llcs.empty_ways(llc, set) > 0) continue;
        const double drawn = unit_interval(std::uint64_t{llc} << 32 | set);
        for (double chance = first; drawn < chance; chance *= share)
            if (!empty_way(llc, set)) break;
    }
}

bool Memory::empty_way(std::uint32_t llc, std::uint32_t set) {
    Hierarchy& h = hierarchy();
    const Line line = h.llcs.remove_last(llc, set);
    if (line == 0) return false;
    DirectoryLine& d = h.directory[line];
    d.llcs &= ~(1u << llc);
    if (d.dirty_llc_plus_one == llc + 1) d.dirty_llc_plus_one = 0;
    if (h.filters.present() && d.llcs == 0 && h.directory.in_no_core<MachineKind::any>(line, d))
        h.filters.untrack(line, h.pages.home(line), h.pages.physical(line));
    return true;
}

void Memory::forget_times() {
    hierarchy().interconnect.forget();
    hierarchy().busy.forget();
    hierarchy().arriving.forget();
    hierarchy().llcs.forget_requests();
    hierarchy().cores.nobody() = {};
    under_way_.lost.clear();
    under_way_.walk = {};
}

}  // namespace autofinity::sim
