// Accesses and waits for memory that are seldom: no step of the stream, or the end of all that is
// under way.
#include "issue.hpp"

namespace autofinity::sim {

bool Simulation::slow_access(Pu& p, Stream& s, const Step& step, std::uint64_t issue, Ticks at,
                             Ticks horizon, std::uint32_t next_gap) {
    return detection_ ? access_slowly<true>(p, s, step, issue, at, horizon, next_gap)
                      : access_slowly<false>(p, s, step, issue, at, horizon, next_gap);
}

void Simulation::drain(Pu& p, Stream& s) {
    const Ticks last = all_done(p, p.time);
    p.ring_count = 0;
    stall(p, s, p.time, last);
    p.time = last;
    set_watch(p, s);
}

}  // namespace autofinity::sim
