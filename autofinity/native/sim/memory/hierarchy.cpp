#include "hierarchy.hpp"

#include <initializer_list>
#include <utility>
#include <vector>

#include "bits.hpp"

namespace autofinity::sim {

Hierarchy::Hierarchy(const MachineModel& of, const Program& program, PageSettings page_settings,
                     std::uint64_t seed, std::uint32_t most_cores)
    : machine(of),
      pages(program, of, std::move(page_settings), seed),
      llc_choice(of),
      cores(of, most_cores, pages, busy, llc_choice),
      llcs(of),
      directory(program.n_lines, most_cores),
      filters(of),
      interconnect(of) {}

// The recall of a line by a full probe filter.
void Hierarchy::recall(Line line, UnderWay& w) {
    DirectoryLine& d = directory[line];
    Counts& n = *w.counts;
    ++n[directory_evictions];
    const std::uint32_t home = pages.home(line);
    bool dirty = d.dirty_llc_plus_one != 0;
    std::uint32_t from_llc = dirty ? d.dirty_llc_plus_one - 1u : 0;
    std::uint32_t from = dirty ? interconnect.node_of_llc(from_llc) : home;
    directory.sharers(line, d).each([&](auto number) {
        L2Domain& domain = cores.domain(number);
        domain.each_copy(line, [&](PrivateCaches&) { ++n[back_invalidations]; });
        if (is_dirty(domain.drop(line))) {
            dirty = true;
            from_llc = domain.llc;
            from = domain.node;
        }
        domain.tell_lost(line, false, w);
        interconnect.signal(home, domain.node, n);
    });
    each_bit(d.llcs, [&](auto llc) { take_from_llc(llc, line); });
    if (dirty) write_dram(from_llc, from, line, w);
    directory.forget(line);
}

void Hierarchy::empty(PrivateCaches& c, UnderWay& w) {
    L2Domain& domain = cores.domain(c.domain);
    for (const Sets* level : std::initializer_list<const Sets*>{&c.l1, &c.l2}) {
        const auto words = level->words();
        // Evictions change the sets under way.
        for (const Word word : std::vector<Word>(words.begin(), words.end())) {
            if (state_of(word) == invalid) continue;
            if (const Word state = domain.drop(line_of(word)); state != invalid)
                leave_core<MachineKind::any>(c, word_of(line_of(word), state), w);
        }
    }
}

}  // namespace autofinity::sim
