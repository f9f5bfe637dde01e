// Lines that a full directory or an inclusive LLC takes back from a core, in a replay from a
// private stage: the accesses to them that the stage has no steps for are carried out after all.
#include <algorithm>

#include "simulation.hpp"

namespace autofinity::sim {
namespace {

// Uses that are looked at for what the L1 counts when it gives up a line that has come back.
constexpr std::uint32_t most_passed = 256;

// The use as a step of the stage. Of an L1 victim, `span` says whether the stage has it modified.
Step step_of(Line line, const LaterUse& use) {
    Step step{line, 0, 0, 0, 0, 0, 0};
    switch (use.kind) {
        case LaterUse::hit:
        case LaterUse::miss:
            step.kind =
                derived_kind(use.kind == LaterUse::hit ? Found::l1 : Found::l2, Translated::tlb1);
            step.reads = use.access != LaterUse::store;
            step.writes = use.access != LaterUse::load;
            // The prefetcher has not seen the miss of what would have been a hit.
            if (use.kind == LaterUse::hit) step.flags |= step_trains;
            if (use.needed) step.flags |= step_dependent;
            break;
        case LaterUse::ahead:
            step.kind = kind_prefetch;
            break;
        default:
            step.kind = kind_victim;
            step.span = use.modified;
    }
    return step;
}

}  // namespace

void Simulation::miss_later(const Lost& lost, Ticks now) {
    for (Stream& v : streams_) {
        const Pu& p = pus_[v.pu];
        if (p.slot != lost.slot || v.status == Status::absent) continue;
        if (v.status != Status::running) {
            defer_uses(v, lost.line, v.instructions, false);
            continue;
        }
        const std::uint64_t here = position(p, v, std::max(p.time, now));
        bring_forward(v.pu, v, defer_uses(v, lost.line, here, false), now);
    }
}

// Puts off the next use, unless the line `is_back` or the stage has a step for it; and when it is
// written next, or the L1 gives it up before: it comes back clean.
// Returns the first instruction that something was put off to.
std::uint64_t Simulation::defer_uses(Stream& v, Line line, std::uint64_t here, bool is_back) {
    std::uint64_t first = no_instruction;
    std::uint32_t passed = is_back;
    later_uses_->after(number_of(v), line, here, [&](const LaterUse& use) {
        if (use.kind == LaterUse::anew) return false;
        const bool victim = use.kind == LaterUse::victim, again = passed != 0;
        const bool writes = use.access != LaterUse::load;
        if (victim ? !again || use.modified : writes || (!again && use.kind != LaterUse::kept)) {
            v.deferred.add_once({use.at, step_of(line, use), true, use.filled});
            first = std::min(first, use.at);
        }
        if (victim) return !again;
        if (use.kind != LaterUse::ahead) ++passed;
        return !writes && passed != most_passed;
    });
    return first;
}

// Carries out what was put off of a line that was taken back; false when its turn has not come.
bool Simulation::use_recalled(Pu& p, Stream& s, const Deferred& use, std::uint64_t issue, Ticks at,
                              Ticks horizon) {
    const Step& step = use.step;
    if (!is_access(step)) {
        s.instructions = issue;
        p.time = at;
        if (step.kind == kind_prefetch)
            fetch_ahead(p, s, step);
        else
            give_up(s, step, use.at, memory_.derived_state(p.slot, step.line));
        return true;
    }
    memory_.caches(p.slot).past->tell_fill(use.filled);
    if (!slow_access(p, s, step, issue, at, horizon, 0)) return false;
    LineNotes& notes = *memory_.caches(p.slot).notes;
    notes.remove(step.line, Note::left_l1);
    notes.remove(step.line, Note::brought);
    // Only the L2 had it.
    if (found_of(step.kind) == Found::l2) notes.remove(step.line, Note::remains);
    s.apart.loads += step.reads;
    s.apart.stores += step.writes;
    s.apart.l2_hits += found_of(step.kind) == Found::l2;
    return true;
}

void Simulation::fetch_ahead(const Pu& p, Stream& s, const Step& step) {
    const Ticks issued = std::max(p.time, p.key);  // not before its turn
    in_order(issued);
    const bool missing = memory_.derived_state(p.slot, step.line) == invalid;
    s.dirty_victims += memory_.follow_at(p.slot, step, issued);
    // To the L2 alone, though the stage has it in the L1.
    if (missing && memory_.derived_state(p.slot, step.line) != invalid)
        memory_.caches(p.slot).notes->add(step.line, Note::brought);
    if (!memory_.lost().empty()) split_lost_runs(issued);
}

// The L1 gives a line up that is not there, or not modified, other than a tally to come says.
void Simulation::give_up(Stream& s, const Step& victim, std::uint64_t here, Word state) {
    const bool modified = victim.span != 0;
    if (state != invalid && (!modified || is_dirty(state))) return;
    ++s.counts[state == invalid ? invalid_data_cache_lines_evicted
                                : clean_data_cache_lines_evicted];
    ++(modified ? s.apart.modified_l1_victims : s.apart.clean_l1_victims);
    if (state != invalid) defer_uses(s, victim.line, here, true);
}

}  // namespace autofinity::sim
