#include "invariants.hpp"

#include <string>

#include "bits.hpp"
#include "machine_kind.hpp"
#include "sim/error.hpp"

namespace autofinity::sim {
namespace {

[[noreturn]] void fail(Line line, const std::string& what) {
    throw SimulationError("broken invariant: line " + std::to_string(line) + ": " + what);
}

bool may_be_written(Word state) { return state == modified || state == exclusive; }

}  // namespace

Invariants::Invariants(const Hierarchy& hierarchy)
    : hierarchy_(hierarchy),
      held_(static_cast<std::uint32_t>(hierarchy.directory.size()), hierarchy.cores.most()) {}

// Checks that the arrays hold exactly the lines that the directory has.
void Invariants::check() {
    look_at_arrays();
    for (Line line = 0; line < hierarchy_.directory.size(); ++line) check_line(line);
}

void Invariants::look_at_arrays() {
    for (std::uint32_t number = 0; number < hierarchy_.cores.domains(); ++number) {
        const L2Domain& domain = hierarchy_.cores.domain(number);
        for (const Word word : domain.l2.words())
            if (word != 0) held(line_of(word)).add(number);
        for (const PrivateCaches* c : domain.cores()) {
            for (const Word word : c->l1.words()) {
                if (state_of(word) == invalid) continue;
                const Line line = line_of(word);
                const bool in_l2 = held(line).has(number);
                if (c->exclusive_levels && in_l2) fail(line, "in L1 and L2 of an exclusive pair");
                if (!c->exclusive_levels && !in_l2) fail(line, "in L1 but not in the inclusive L2");
                if (domain.is_shared) check_in_shared_l2(domain, *c, word);
                if (c->exclusive_levels) held(line).add(number);
            }
        }
    }
    for (std::uint32_t llc = 0; llc < hierarchy_.llcs.count(); ++llc)
        for (const Word word : hierarchy_.llcs.words(llc))
            if (word != 0) held_[line_of(word)].llcs |= 1u << llc;
}

// Checks a word of an L1 whose L2 is shared.
void Invariants::check_in_shared_l2(const L2Domain& domain, const PrivateCaches& c,
                                    Word word) const {
    const Line line = line_of(word);
    const Word* set = domain.l2.at(hierarchy_.pages.physical(line));
    const Word state2 = state_of(set[domain.l2.find(set, line)]);
    const Word state = state_of(word);
    if (may_be_written(state) && !may_be_written(state2))
        fail(line, "M or E in an L1 although its L2 does not own it");
    if (state == owned && state2 != owned) fail(line, "O in an L1 but not in its L2");
    domain.each_sibling_copy(c, line, [&](const PrivateCaches&, Word other) {
        if (may_be_written(state) || state_of(other) == modified)
            fail(line, "in several L1s of an L2 although one has it M or E");
    });
}

void Invariants::check_line(Line line) {
    const DirectoryLine& d = hierarchy_.directory[line];
    if (!hierarchy_.directory.same_sharers(held_, line))
        fail(line, "sharers of the directory are not who holds it");
    const Sharers have = held(line);
    if (held_[line].llcs != d.llcs) fail(line, "LLCs of the directory are not those that hold it");
    each_bit(d.llcs, [&](auto llc) {
        if (hierarchy_.llc_for<MachineKind::any>(llc, line) != llc)
            fail(line, "in an LLC of another node than its home's");
    });
    if (d.dirty_llc_plus_one != 0 && (d.llcs >> (d.dirty_llc_plus_one - 1) & 1) == 0)
        fail(line, "dirty in an LLC that does not hold it");
    if (d.dirty_llc_plus_one != 0 && d.owner_plus_one != 0 &&
        !(hierarchy_.machine.llc_inclusive &&
          d.dirty_llc_plus_one == hierarchy_.cores.domain(d.owner_plus_one - 1u).llc + 1))
        fail(line, "two places must write it back");
    if (hierarchy_.filters.present() && hierarchy_.pages.mapped(line >> page_shift) &&
        hierarchy_.filters.tracks(line, hierarchy_.pages.home(line),
                                  hierarchy_.pages.physical(line)) != (!have.none() || d.llcs != 0))
        fail(line, "the probe filter has an entry for it, or none, and should not");
    have.each([&](auto domain) { check_sharer(line, domain); });
    if (d.owner_plus_one != 0 && !have.has(d.owner_plus_one - 1u))
        fail(line, "its owner does not hold it");
}

void Invariants::check_sharer(Line line, std::uint32_t domain) {
    const DirectoryLine& d = hierarchy_.directory[line];
    const Word state = hierarchy_.cores.domain(domain).state(line);
    const bool owner = d.owner_plus_one == domain + 1;
    if (owner != (may_be_written(state) || state == owned))
        fail(line, "its owner is not the L2 domain that has it M, E or O");
    if (may_be_written(state) && held(line).several())
        fail(line, "shared although one L2 domain has it M or E");
    if (state == owned && !hierarchy_.machine.owned_state) fail(line, "state O without MOESI");
    if (hierarchy_.machine.llc_inclusive &&
        (d.llcs >> hierarchy_.cores.domain(domain).llc & 1) == 0)
        fail(line, "in an L2 domain but not in its inclusive LLC");
    if (may_be_written(state) && !hierarchy_.machine.llc_inclusive && d.llcs != 0)
        fail(line, "in an LLC although one L2 domain has it M or E");
}

}  // namespace autofinity::sim
