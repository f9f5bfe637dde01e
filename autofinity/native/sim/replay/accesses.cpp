#include "accesses.hpp"

namespace autofinity::sim {

bool Accesses::carry_out(Pu& p, Stream& s, const Step& step, std::uint64_t issue, Ticks at,
                         Ticks horizon, std::uint32_t next_gap) {
    return watching_.any() ? carry_out<true>(p, s, step, issue, at, horizon, next_gap)
                           : carry_out<false>(p, s, step, issue, at, horizon, next_gap);
}

void Accesses::touch(Pu& p, Stream& s, Line line, bool write) {
    p.most_misses = p.kind->misses_in_flight;  // a touch waits for no turn of its own
    carry_out(p, s, Step::touch(line, write), s.instructions, p.time, forever, 0);
    issue_.drain(p, s);
}

}  // namespace autofinity::sim
