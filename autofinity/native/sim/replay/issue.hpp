// How an access issues that may leave the L1: it waits for a miss buffer, and misses overlap as far
// as the window goes.
#pragma once

#include <algorithm>

#include "simulation.hpp"

namespace autofinity::sim {

inline void Simulation::set_watch(Pu& p, const Stream& s) {
    // All bits where nothing is under way, which a host cannot guess.
    const std::uint64_t none = std::uint64_t{0} - (p.ring_count == 0);
    std::uint64_t watch = p.ring[p.ring_head].limit | none;
    if (!s.deferred.empty()) watch = std::min(watch, s.deferred.first().at);
    p.watch = s.skip != 0 ? 0 : watch;
}

// When an access due at `at` finds a miss buffer, should it need one.
inline Ticks Simulation::buffer_free(Pu& p, const Step& step, Ticks at) {
    while (p.ring_count != 0 && p.ring[p.ring_head].ready <= at) forget_oldest_miss(p);
    if (p.ring_count < p.kind->misses_in_flight) return at;
    return memory_.hits_l1(p.slot, step) ? at : p.ring[p.ring_head].ready;
}

// When all misses under way at `at` are done.
inline Ticks Simulation::all_done(const Pu& p, Ticks at) {
    for (std::uint32_t i = 0; i < p.ring_count; ++i)
        at = std::max(at, p.ring[(p.ring_head + i) % max_in_flight].ready);
    return at;
}

// When a step that is no access, due at `at`, can be carried out.
inline Ticks Simulation::carried_out(const Pu& p, const Step& step, Ticks at) {
    return step.drains() ? all_done(p, at) : at;
}

// Whether what is due at `at` and can be done at `free` only has to wait for another turn: others
// come first, or siblings, which issue faster in the meantime.
inline bool Simulation::must_wait(const Pu& p, Ticks at, Ticks free, Ticks horizon) {
    return free > horizon || (p.shares && free > std::max(at, p.key));
}

// Gives the turn away until then.
inline bool Simulation::put_off(Pu& p, Ticks at, Ticks free) {
    if (p.shares) leave_issue(p, at, free);
    p.key = free;
    return false;
}

inline void Simulation::forget_oldest_miss(Pu& p) {
    p.ring_head = (p.ring_head + 1) % max_in_flight;
    --p.ring_count;
}

// The window cannot hide the oldest miss any longer at `at`; returns how long nothing issues.
inline Ticks Simulation::wait_for_oldest_miss(Pu& p, Stream& s, Ticks at) {
    const Ticks ready = p.ring[p.ring_head].ready;
    forget_oldest_miss(p);
    if (ready <= at) return 0;
    stall(p, s, at, ready);
    return ready - at;
}

// The miss goes on while later instructions issue, as far as window and miss buffers allow.
inline void Simulation::overlap(Pu& p, Stream& s, Ticks ready) {
    while (p.ring_count != 0 && p.ring[p.ring_head].ready <= p.time) forget_oldest_miss(p);
    if (p.ring_count == p.kind->misses_in_flight) {  // a page walk of an access that hit the L1
        p.time = std::max(p.time, p.ring[p.ring_head].ready);
        forget_oldest_miss(p);
    }
    p.ring[(p.ring_head + p.ring_count) % max_in_flight] = {s.instructions + p.kind->window, ready};
    ++p.ring_count;
    set_watch(p, s);
}

template <bool watched>
[[gnu::always_inline]] inline bool Simulation::access_slowly(Pu& p, Stream& s, const Step& step,
                                                             std::uint64_t issue, Ticks at,
                                                             Ticks horizon,
                                                             std::uint32_t next_gap) {
    const bool atomic = step.is_atomic();
    const bool faulted = memory_.faults(step.line());
    const bool induced = watched && detection_->armed(step.line() >> page_shift);
    const bool drained = atomic || faulted || induced;
    // Not before its turn: what it was put off for may have gone in between, as a fault does that
    // another thread takes.
    const Ticks free = std::max(p.key, drained ? all_done(p, at) : buffer_free(p, step, at));
    if (must_wait(p, at, free, horizon)) return put_off(p, at, free);
    s.instructions = issue;
    stall(p, s, at, free);
    p.time = free;
    if (drained) drain(p, s);
    const Ticks issued = p.time;
    // The kernel works on the core: nothing overlaps with that.
    if (faulted) [[unlikely]]
        p.time += memory_.take_fault(p.slot, step.line());
    if (watched && (faulted || induced)) [[unlikely]]
        p.time += detection_->faulted(actor(p, s), step.line(), induced);
    const Ticks begun = p.time;
    // What an access asks of the memory it asks at its own time, after a fault or a walk too: cores
    // would otherwise act far ahead of the others. The latencies add up all the same.
    out_of_order_ += issued < latest_issue_;
    latest_issue_ = std::max(latest_issue_, issued);
    Served served = memory_.access(p.slot, step, issued, faulted || induced);
    served.ready += begun - issued;
    s.counts[data_cache_loads] += step.reads();
    s.counts[data_cache_stores] += step.writes();
    if (atomic) ++s.counts[atomics];
    const Ticks ready =
        std::max(served.ready, begun + (atomic ? machine_->atomic_hit : p.kind->side.l1_hit));
    if (atomic || served.contended) {
        p.time = ready;
    } else if (step.is_dependent()) {
        const Ticks hidden = next_gap * p.instruction;
        if (ready > begun + hidden) p.time = ready - hidden;
    } else if (served.ready > begun) {
        overlap(p, s, ready);
    }
    s.stall_ticks += begun - issued;
    stall(p, s, begun, p.time);
    if constexpr (watched) p.time += watch_access(p, s, step, served, served.ready - begun);
    if (step.is_burst()) remember_burst(s, step, issue);
    if (!memory_.lost().empty()) split_lost_bursts(issued);
    return true;
}

}  // namespace autofinity::sim
