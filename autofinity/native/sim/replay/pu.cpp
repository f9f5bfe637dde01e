#include "pu.hpp"

namespace autofinity::sim {

void Pu::compute_until(Stream& s, Ticks until) {
    if (until <= time || s.resume != Resume::nothing) return;
    std::uint64_t left = s.rest_of_gap();
    if (!s.deferred.empty())
        left =
            std::min(left, s.deferred.first().at - std::min(s.deferred.first().at, s.instructions));
    const std::uint64_t done = std::min<std::uint64_t>((until - time) / instruction, left);
    s.instructions += done;
    s.skip += done;
    time += done * instruction;
}

}  // namespace autofinity::sim
