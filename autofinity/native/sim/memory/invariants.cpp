// What must hold between any two accesses; tests ask for it.
#include <string>

#include "copies.hpp"
#include "sim/error.hpp"

namespace autofinity::sim {
namespace {

[[noreturn]] void fail(Line line, const std::string& what) {
    throw SimulationError("broken invariant: line " + std::to_string(line) + ": " + what);
}

}  // namespace

// A word of an L1 whose L2 is shared.
void Memory::check_shared(PrivateCaches& c, Word word) {
    const Line line = line_of(word);
    Word* set = c.l2.at(pages_.physical(line));
    const Word state2 = state_of(set[c.l2.find(set, line)]);
    const Word state = state_of(word);
    const bool may_write = state2 == modified || state2 == exclusive;
    if ((state == modified || state == exclusive) && !may_write)
        fail(line, "M or E in an L1 although its L2 does not own it");
    if (state == owned && state2 != owned) fail(line, "O in an L1 but not in its L2");
    each_sibling_copy(c, line, [&](std::uint32_t, const Word& other) {
        if (state == modified || state == exclusive || state_of(other) == modified)
            fail(line, "in several L1s of an L2 although one has it M or E");
    });
}

void Memory::check() const {
    auto& self = const_cast<Memory&>(*this);  // lookups only
    // What the arrays hold must be what the directory says, and nothing more.
    std::vector<std::uint64_t> first_held(directory_.size(), 0);
    std::vector<std::uint64_t> more_held(more_sharers_.size(), 0);
    const auto held = [&](Line line) {
        return Sharers(first_held[line], more_held.data() + std::size_t{line} * more_words_,
                       more_words_);
    };
    for (std::uint32_t number = 0; number < l2_domains_.size(); ++number) {
        const L2Domain& domain = *l2_domains_[number];
        for (const Word word : domain.l2.words())
            if (word != 0) held(line_of(word)).add(number);
        for (const std::uint32_t cached_core : domain.cores) {
            PrivateCaches& c = *cores_[cached_core];
            for (const Word word : c.l1.words()) {
                if (state_of(word) == invalid) continue;
                const Line line = line_of(word);
                const bool in_l2 = held(line).has(number);
                if (c.exclusive_levels && in_l2) fail(line, "in L1 and L2 of an exclusive pair");
                if (!c.exclusive_levels && !in_l2) fail(line, "in L1 but not in the inclusive L2");
                if (domain.shared) self.check_shared(c, word);
                if (c.exclusive_levels) held(line).add(number);
            }
        }
    }
    std::vector<std::uint32_t> in_llc(directory_.size(), 0);
    for (std::uint32_t llc = 0; llc < llcs_.count(); ++llc)
        for (const Word word : llcs_.words(llc))
            if (word != 0) in_llc[line_of(word)] |= 1u << llc;
    for (Line line = 0; line < directory_.size(); ++line) {
        const DirectoryLine& d = directory_[line];
        const Sharers have = self.sharers(line);
        for (std::uint32_t i = 0; i < have.words(); ++i)
            if (held(line).word(i) != have.word(i))
                fail(line, "sharers of the directory are not who holds it");
        if (in_llc[line] != d.llcs) fail(line, "LLCs of the directory are not those that hold it");
        if (d.dirty_llc_plus_one != 0 && (d.llcs >> (d.dirty_llc_plus_one - 1) & 1) == 0)
            fail(line, "dirty in an LLC that does not hold it");
        if (d.dirty_llc_plus_one != 0 && d.owner_plus_one != 0 &&
            !(machine_.llc_inclusive &&
              d.dirty_llc_plus_one == l2_domains_[d.owner_plus_one - 1]->llc + 1))
            fail(line, "two places must write it back");
        if (filters_.count() != 0 && self.pages_.mapped(line >> page_shift)) {
            const std::uint32_t home = pages_.node(line >> page_shift);
            const Word* set = filters_.at(home, pages_.physical(line));
            const bool tracked = filters_.find(set, line) >= 0;
            if (tracked != (!have.none() || d.llcs != 0))
                fail(line, "the probe filter has an entry for it, or none, and should not");
        }
        have.each([&](auto domain) {
            const Word state = self.private_state(domain, line);
            const bool owner = d.owner_plus_one == domain + 1;
            if (owner != (state == modified || state == exclusive || state == owned))
                fail(line, "its owner is not the L2 domain that has it M, E or O");
            if ((state == modified || state == exclusive) && have.several())
                fail(line, "shared although one L2 domain has it M or E");
            if (state == owned && !machine_.owned_state) fail(line, "state O without MOESI");
            if (machine_.llc_inclusive && (d.llcs >> l2_domains_[domain]->llc & 1) == 0)
                fail(line, "in an L2 domain but not in its inclusive LLC");
            if ((state == modified || state == exclusive) && !machine_.llc_inclusive && d.llcs != 0)
                fail(line, "in an LLC although one L2 domain has it M or E");
        });
        if (d.owner_plus_one != 0 && !have.has(d.owner_plus_one - 1u))
            fail(line, "its owner does not hold it");
    }
}

}  // namespace autofinity::sim
