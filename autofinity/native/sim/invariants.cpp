// What must hold between any two accesses; tests ask for it.
#include <string>

#include "bits.hpp"
#include "error.hpp"
#include "memory.hpp"

namespace autofinity::sim {

void Memory::check() const {
    const auto fail = [](Line line, const std::string& what) {
        throw SimulationError("broken invariant: line " + std::to_string(line) + ": " + what);
    };
    auto& self = const_cast<Memory&>(*this);  // lookups only
    // What the arrays hold must be what the directory says, and nothing more.
    std::vector<std::uint64_t> held(directory_.size(), 0);
    for (std::uint32_t slot = 0; slot < cores_.size(); ++slot) {
        PrivateCaches& c = *cores_[slot];
        const std::uint64_t bit = std::uint64_t{1} << slot;
        for (const bool level2 : {false, true})
            for (const Word word : (level2 ? c.l2 : c.l1).words()) {
                if (state_of(word) == invalid) continue;
                const Line line = line_of(word);
                const bool twice = (held[line] & bit) != 0;
                if (twice && c.exclusive_levels()) fail(line, "in L1 and L2 of an exclusive pair");
                if (level2 && !c.exclusive_levels()) continue;
                held[line] |= bit;
            }
        if (!c.exclusive_levels())
            for (const Word word : c.l2.words()) {
                if (word == 0) continue;
                held[line_of(word)] |= bit;
            }
        if (!c.exclusive_levels())
            for (const Word word : c.l1.words())
                if (state_of(word) != invalid &&
                    c.l2.find(c.l2.at(self.pages_.physical(line_of(word))), line_of(word)) < 0)
                    fail(line_of(word), "in L1 but not in the inclusive L2");
    }
    std::vector<std::uint32_t> in_llc(directory_.size(), 0);
    for (std::uint32_t llc = 0; llc < llcs_.size(); ++llc)
        for (const Word word : llcs_[llc]->words())
            if (word != 0) in_llc[line_of(word)] |= 1u << llc;
    for (Line line = 0; line < directory_.size(); ++line) {
        const DirectoryLine& d = directory_[line];
        if (mode_ != Mode::staged && held[line] != d.sharers)
            fail(line, "sharers of the directory are not who holds it");
        if (in_llc[line] != d.llcs) fail(line, "LLCs of the directory are not those that hold it");
        if (d.dirty_llc_plus_one != 0 && (d.llcs >> (d.dirty_llc_plus_one - 1) & 1) == 0)
            fail(line, "dirty in an LLC that does not hold it");
        if (d.dirty_llc_plus_one != 0 && d.owner_plus_one != 0 &&
            !(machine_.llc_inclusive &&
              d.dirty_llc_plus_one == cores_[d.owner_plus_one - 1]->llc + 1))
            fail(line, "two places must write it back");
        if (!filters_.empty() && self.pages_.mapped(line >> page_shift)) {
            Sets& filter = *filters_[pages_.node(line >> page_shift)];
            const bool tracked = filter.find(filter.at(pages_.physical(line)), line) >= 0;
            if (tracked != (d.sharers != 0 || d.llcs != 0))
                fail(line, "the probe filter has an entry for it, or none, and should not");
        }
        each_bit(d.sharers, [&](auto slot) {
            const Word state = self.private_state(slot, line);
            const bool owner = d.owner_plus_one == slot + 1;
            if (owner != (state == modified || state == exclusive || state == owned))
                fail(line, "its owner is not the core that has it M, E or O");
            if ((state == modified || state == exclusive) && (d.sharers & (d.sharers - 1)) != 0)
                fail(line, "shared although one core has it M or E");
            if (state == owned && !machine_.owned_state) fail(line, "state O without MOESI");
            if (machine_.llc_inclusive && (d.llcs >> self.cores_[slot]->llc & 1) == 0)
                fail(line, "in a core but not in its inclusive LLC");
            if ((state == modified || state == exclusive) && !machine_.llc_inclusive && d.llcs != 0)
                fail(line, "in an LLC although one core has it M or E");
        });
        if (d.owner_plus_one != 0 && (d.sharers >> (d.owner_plus_one - 1) & 1) == 0)
            fail(line, "its owner does not hold it");
    }
}

}  // namespace autofinity::sim
