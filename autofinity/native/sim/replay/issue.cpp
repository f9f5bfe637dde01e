#include "issue.hpp"

namespace autofinity::sim {

void Issue::drain(Pu& p, Stream& s) {
    const Ticks last = p.misses.all_done(p.time);
    p.misses.clear();
    stall(p, s, p.time, last);
    p.time = last;
    p.set_watch(s);
}

}  // namespace autofinity::sim
