// Accesses and waits for memory that are seldom: no step of the stream, or the end of all that is
// under way.
#include "issue.hpp"

#include <algorithm>

namespace autofinity::sim {

bool Simulation::slow_access(Pu& p, Stream& s, const Step& step, std::uint64_t issue, Ticks at,
                             Ticks horizon, std::uint32_t next_gap) {
    switch (mode_) {
        case Mode::watched:
            return access_slowly<Mode::watched>(p, s, step, issue, at, horizon, next_gap);
        case Mode::staged:
            return access_slowly<Mode::staged>(p, s, step, issue, at, horizon, next_gap);
        default:
            return access_slowly<Mode::full>(p, s, step, issue, at, horizon, next_gap);
    }
}

void Simulation::drain(Pu& p, Stream& s) {
    Ticks last = p.time;
    for (; p.ring_count != 0; --p.ring_count) {
        last = std::max(last, p.ring[p.ring_head].ready);
        p.ring_head = (p.ring_head + 1) % max_in_flight;
    }
    stall(p, s, p.time, last);
    p.time = last;
    set_watch(p, s);
}

}  // namespace autofinity::sim
