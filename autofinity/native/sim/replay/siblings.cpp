// Hardware threads of one core (SMT) share its issue slots: an instruction takes longer, by the
// core's smt_slowdown, while a sibling issues too, and no longer than alone while all siblings wait
// for memory, are woken up or have nothing to run. And they share its caches: they take turns in
// the order of time, even with accesses whose order no other core can see.
#include <algorithm>

#include "issue.hpp"

namespace autofinity::sim {

// Sets the speed of a PU whose turn it is.
Simulation::Turn Simulation::share_core(Pu& p, Stream& s, Ticks horizon) {
    Turn turn{forever, forever};
    bool alone = true;
    p.shares = false;
    for (const std::uint32_t index : p.siblings) {
        const Pu& q = pus_[index];
        // One that has nothing to run now may be woken at any time after the horizon.
        if (q.last_stream != nobody) turn.until = std::min(turn.until, horizon);
        if (q.stream == nobody) continue;
        p.shares = true;
        turn.until = std::min(turn.until, q.key);
        if (q.stalled_from <= p.key && p.key < q.stalled_until)
            turn.change = std::min(turn.change, q.stalled_until);
        else
            alone = false;
    }
    // What is due now may be done, though a sibling has just been told of something earlier.
    turn.until = std::max(p.key, std::min(turn.until, turn.change));
    const Ticks instruction = alone ? p.kind->instruction : p.shared_instruction;
    if (instruction != p.instruction) {
        compute_until(p, s, p.key);
        set_watch(p, s);
        p.instruction = instruction;
    }
    return turn;
}

// Whether the PU issues has changed at `at`: siblings in the middle of a gap go on at another
// speed.
void Simulation::tell_siblings(const Pu& p, Ticks at) {
    for (const std::uint32_t index : p.siblings) {
        Pu& q = pus_[index];
        if (q.stream == nobody || q.key <= at) continue;
        q.key = std::max(q.time, at);
        due_.advance(index, q.key);
    }
}

// The PU issues nothing between `from` and `until`, for it waits for memory.
void Simulation::leave_issue(Pu& p, Ticks from, Ticks until) {
    from = std::max(from, p.key);  // siblings have done what was due before its turn
    if (from >= p.stalled_from && until <= p.stalled_until) return;  // they know
    if (from > p.stalled_until || from < p.stalled_from) p.stalled_from = from;
    p.stalled_until = until;
    tell_siblings(p, from);
    yield_ = true;
}

}  // namespace autofinity::sim
