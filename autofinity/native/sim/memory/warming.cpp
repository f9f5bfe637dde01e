// Caches, directory and TLBs as they are in the middle of a run, without what led there: the lines
// that each core touched last are touched once more, oldest first. What that takes is computed as
// for any access and forgotten afterwards.
#include "host_cache.hpp"
#include "memory.hpp"

namespace autofinity::sim {

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
    if (!h.pages.mapped(line >> page_shift)) return;
    const PrivateCaches& c = h.cores[cached_core];
    const std::uint32_t place = h.pages.physical(line);
    c.l2.bring_near(c.l2.at(place));
    h.llcs.bring_near(c.llc, place);
    if (h.filters.present()) h.filters.bring_near(h.pages.home(line), place);
}

void Memory::bring_victims_near(std::uint32_t cached_core, Line line) const {
    const Hierarchy& h = hierarchy();
    if (!h.pages.mapped(line >> page_shift)) return;
    const PrivateCaches& c = h.cores[cached_core];
    const std::uint32_t place = h.pages.physical(line);
    bring_near(&h.directory[line_of(c.l2.last_of(c.l2.at(place)))]);
    bring_near(&h.directory[h.llcs.victim(h.llcs.bring_near(c.llc, place))]);
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

void Memory::forget_times() {
    hierarchy().interconnect.forget();
    hierarchy().busy.forget();
    hierarchy().llcs.forget_requests();
    hierarchy().cores.nobody() = {};
    under_way_.lost.clear();
    under_way_.walk = {};
}

}  // namespace autofinity::sim
