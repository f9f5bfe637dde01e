#include "open_bursts.hpp"

namespace autofinity::sim {

Step OpenBurst::rest_after(std::uint64_t from) const {
    // Accesses carried out when the burst began: one of each kind that it has.
    const std::uint32_t first = (step.reads() != 0) + (step.writes() != 0);
    const std::uint32_t all = step.accesses();
    const std::uint64_t rest = (all - first) * (end() - from) / step.span();
    const std::uint64_t writes = std::min<std::uint64_t>(
        (rest * step.writes() + all / 2) / all, step.writes() - std::uint64_t{step.writes() != 0});
    const std::uint64_t reads = std::min<std::uint64_t>(
        rest - std::min(rest, writes), step.reads() - std::uint64_t{step.reads() != 0});
    const std::uint64_t apart = std::uint64_t{step.span()} * first / std::max(1u, all - 1);
    const std::uint64_t at = std::min(end(), from + std::max<std::uint64_t>(apart, 1));
    return step.rest(static_cast<std::uint16_t>(reads), static_cast<std::uint16_t>(writes),
                     static_cast<std::uint16_t>(end() - at));
}

}  // namespace autofinity::sim
