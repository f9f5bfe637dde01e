#include "translation.hpp"

namespace autofinity::sim {

Ticks Translation::fault(PrivateCaches& c, Line line) {
    ++(*c.counts)[page_faults];
    hierarchy_.pages.map(line >> page_shift, c.node);
    return c.side.page_fault;
}

CachedCoreSet Translation::shoot_down(std::uint32_t page) {
    const std::uint32_t unit = hierarchy_.pages.units.of(page);
    CachedCoreSet had;
    for (std::uint32_t number = 0; number < hierarchy_.cores.count(); ++number) {
        PrivateCaches& c = hierarchy_.cores[number];
        const bool first = c.tlb1.forget(unit);
        Word* set = c.tlb2.at(unit);
        const int way = c.tlb2.find(set, unit);
        if (way >= 0) c.tlb2.remove(set, way);
        if (!first && way < 0) continue;
        ++(*c.counts)[tlb_shootdowns];
        had.push_back(number);
    }
    return had;
}

}  // namespace autofinity::sim
