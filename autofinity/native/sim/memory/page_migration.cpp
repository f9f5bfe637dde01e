#include "page_migration.hpp"

#include <algorithm>

#include "bits.hpp"

namespace autofinity::sim {

// What was dirty is in the page that is copied.
void PageMigration::take_from_all(Line line, UnderWay& w) {
    DirectoryLine& d = directory_[line];
    if (filters_.present()) filters_.untrack(line);
    directory_.sharers(line, d).each([&](auto number) {
        L2Domain& domain = cores_.domain(number);
        domain.drop(line);
        domain.tell_lost(line, false, w);
    });
    each_bit(d.llcs, [&](auto llc) { fills_.take_from_llc(llc, line); });
    directory_.forget(line);
}

Moved PageMigration::move(std::uint32_t page, std::uint32_t node, UnderWay& w) {
    if (!pages_.mapped(page) || pages_.node(page) == node) return {};
    const std::uint32_t from = pages_.node(page);
    Ticks ready = w.now;
    Moved moved;
    pages_.units.each_page(page, [&](std::uint32_t each) {
        for (Line line = each << page_shift; line < (each + 1) << page_shift; ++line) {
            take_from_all(line, w);
            const Ticks written = interconnect_.copy(from, node, w.now, *w.counts);
            if (moved.first_line == 0) moved.first_line = written - w.now;
            ready = std::max(ready, written);
        }
    });
    moved.shot_down = translation_.shoot_down(page);
    pages_.place(page, node);
    moved.cost =
        ready - w.now + machine_.dram[0] + (moved.shot_down.empty() ? 0 : machine_.shootdown);
    return moved;
}

}  // namespace autofinity::sim
