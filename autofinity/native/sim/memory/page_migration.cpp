#include "page_migration.hpp"

#include <algorithm>

#include "bits.hpp"

namespace autofinity::sim {

// Dirty data are part of the page that is copied.
void PageMigration::take_from_all(Line line, UnderWay& w) {
    DirectoryLine& d = hierarchy_.directory[line];
    if (hierarchy_.filters.present())
        hierarchy_.filters.untrack(line, hierarchy_.pages.home(line),
                                   hierarchy_.pages.physical(line));
    hierarchy_.directory.sharers(line, d).each([&](auto number) {
        L2Domain& domain = hierarchy_.cores.domain(number);
        domain.drop(line);
        domain.tell_lost(line, false, w);
    });
    each_bit(d.llcs, [&](auto llc) { hierarchy_.take_from_llc(llc, line); });
    hierarchy_.directory.forget(line);
}

Moved PageMigration::move(std::uint32_t page, std::uint32_t node, UnderWay& w) {
    if (!hierarchy_.pages.mapped(page) || hierarchy_.pages.node(page) == node) return {};
    const std::uint32_t from = hierarchy_.pages.node(page);
    Ticks ready = w.now;
    Moved moved;
    hierarchy_.pages.units.each_page(page, [&](std::uint32_t each) {
        for (Line line = each << page_shift; line < (each + 1) << page_shift; ++line) {
            take_from_all(line, w);
            const Ticks written = hierarchy_.interconnect.copy(from, node, w.now, *w.counts);
            if (moved.first_line == 0) moved.first_line = written - w.now;
            ready = std::max(ready, written);
        }
    });
    moved.shot_down = translation_.shoot_down(page);
    hierarchy_.pages.place(page, node);
    moved.cost = ready - w.now + hierarchy_.machine.dram[0] +
                 (moved.shot_down.empty() ? 0 : hierarchy_.machine.shootdown);
    return moved;
}

}  // namespace autofinity::sim
