#include "detect/tlb_mirrors.hpp"

namespace autofinity::detect {

std::size_t TlbMirrors::match_with(std::size_t core, std::size_t first,
                                   SharingCounts& counts) const {
    std::size_t looked_at = 0;
    for (std::size_t set = 0; set < sets_; ++set) {
        const std::vector<TlbEntry>& own = in_[core * sets_ + set];
        if (own.empty()) continue;
        for (std::size_t i = 0; i < own.size(); ++i)
            for (std::size_t k = 0; k < i; ++k)
                if (own[i].page == own[k].page) counts.count(own[i].thread, own[k].thread);
        for (std::size_t other = first; other < cores_; ++other) {
            if (other == core) continue;
            const std::vector<TlbEntry>& theirs = in_[other * sets_ + set];
            looked_at += theirs.size();
            for (const TlbEntry& mine : own)
                for (const TlbEntry& entry : theirs)
                    if (entry.page == mine.page) counts.count(mine.thread, entry.thread);
        }
    }
    return looked_at;
}

}  // namespace autofinity::detect
