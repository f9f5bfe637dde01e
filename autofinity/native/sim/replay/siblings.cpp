#include "siblings.hpp"

#include <algorithm>

namespace autofinity::sim {

Siblings::Turn Siblings::share_core(Pu& p, Stream& s, Ticks horizon) {
    Turn turn;
    bool alone = true;
    p.shares = false;
    for (const std::uint32_t index : p.siblings) {
        const Pu& q = board_.pus[index];
        // A sibling without work may be woken at any time after the horizon.
        if (q.last_stream != nobody) turn.until = std::min(turn.until, horizon);
        if (q.stream == nobody) continue;
        p.shares = true;
        turn.until = std::min(turn.until, q.key);
        if (q.stalled_from <= p.key && p.key < q.stalled_until)
            turn.change = std::min(turn.change, q.stalled_until);
        else
            alone = false;
    }
    // Events that are due now may happen, although a sibling has just received an earlier time.
    turn.until = std::max(p.key, std::min(turn.until, turn.change));
    if (p.parts_core) {
        p.window = p.shares ? p.kind->smt_window : p.kind->window;
        p.wants_buffer = false;
        p.most_misses = p.shares_misses() ? buffers_of(p, p.key) : p.kind->misses_in_flight;
    }
    const Ticks instruction = alone ? p.kind->instruction : p.shared_instruction;
    if (instruction != p.instruction) {
        p.compute_until(s, p.key);
        p.set_watch(s);
        p.instruction = instruction;
    }
    return turn;
}

std::uint32_t Siblings::buffers_of(const Pu& p, Ticks at) const {
    const std::uint32_t all = p.kind->misses_in_flight;
    std::uint32_t running = 1, taken = 0;
    bool wanted = false;
    for (const std::uint32_t index : p.siblings) {
        const Pu& q = board_.pus[index];
        if (q.stream == nobody) continue;
        ++running;
        taken += q.misses.under_way(at);
        wanted |= q.wants_buffer;
    }
    const std::uint32_t left = all - std::min(all, taken);
    return wanted ? std::min(left, std::max(1u, all / running)) : left;
}

Ticks Siblings::buffer_free(Pu& p, Ticks at) const {
    p.misses.forget_done(at);
    p.most_misses = buffers_of(p, at);
    if (p.misses.size() < p.most_misses) return at;
    p.wants_buffer = true;
    Ticks next = p.misses.next_done(at, forever);
    for (const std::uint32_t index : p.siblings) {
        const Pu& q = board_.pus[index];
        if (q.stream != nobody) next = q.misses.next_done(at, next);
    }
    return next;
}

void Siblings::tell(const Pu& p, Ticks at) {
    for (const std::uint32_t index : p.siblings) {
        const Pu& q = board_.pus[index];
        if (q.stream == nobody || q.key <= at) continue;
        board_.advance(index, std::max(q.time, at));
    }
}

void Siblings::leave_issue(Pu& p, Ticks from, Ticks until) {
    from = std::max(from, p.key);  // siblings have done everything due before its turn
    if (from >= p.stalled_from && until <= p.stalled_until) return;  // siblings know this
    if (from > p.stalled_until || from < p.stalled_from) p.stalled_from = from;
    p.stalled_until = until;
    tell(p, from);
    board_.yield = true;
}

}  // namespace autofinity::sim
