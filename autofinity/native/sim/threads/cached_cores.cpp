#include "cached_cores.hpp"

#include <algorithm>

namespace autofinity::sim {

void CachedCores::admit(std::uint32_t pu) {
    Pu& p = board_.pus[pu];
    if (p.cached_core != nobody) return;
    if (!memory_.has_room() && !memory_.in_use(p.core)) make_room();
    p.cached_core = memory_.cached_core_of(p.core);
    board_.pus_of_cached_core[p.cached_core].push_back(pu);
}

// The core that has been idle longest loses its caches; its lines leave as if other lines had
// replaced them.
void CachedCores::make_room() {
    std::uint32_t idlest = nobody;
    Ticks since = forever;
    for (std::uint32_t cached_core = 0; cached_core < memory_.cached_cores(); ++cached_core) {
        Ticks last = 0;
        bool busy = false;
        for (const std::uint32_t pu : board_.pus_of_cached_core[cached_core]) {
            busy |= board_.pus[pu].stream != nobody;
            last = std::max(last, board_.pus[pu].time);
        }
        if (busy || last >= since) continue;
        since = last;
        idlest = cached_core;
    }
    if (idlest == nobody) return;
    for (const std::uint32_t pu : board_.pus_of_cached_core[idlest])
        board_.pus[pu].cached_core = nobody;
    board_.pus_of_cached_core[idlest].clear();
    memory_.release(idlest);
    bursts_.split_lost();
}

}  // namespace autofinity::sim
