// How a socket is filled with the best Σc² for its number of threads, within bounds.
#include <algorithm>

#include "affinity/hint_problem.hpp"

namespace autofinity::affinity {

bool HintProblem::fits(int socket, const Shape& best, const Bounds& bounds) const {
    if (!hint_.spread_llcs) {
        return fits_concentrated(socket, best, bounds);
    }
    int must = 0;
    int may = 0;
    for (const int d : level_.sockets[socket].domains) {
        const int capacity = level_.domains[d].capacity;
        if (capacity <= best.level) {
            if (bounds.hi[d] < capacity) {
                return false;
            }
            continue;
        }
        if (bounds.lo[d] > best.level + 1 || bounds.hi[d] < best.level) {
            return false;
        }
        must += bounds.lo[d] > best.level ? 1 : 0;
        may += bounds.hi[d] > best.level ? 1 : 0;
    }
    return must <= best.extra && best.extra <= may;
}

namespace {

// The bounds of a concentrated socket in the terms that decide: which domains may hold what.
struct Concentrated {
    int held = 0;      // of capacity `level`, must hold something
    int fillable = 0;  // of capacity `level`, may be full
    int forced = 0;    // domains that can only be the one with the remainder
    int forced_at = -1;
    bool possible = true;

    Concentrated(const Level& machine, const std::vector<int>& domains, int level, int extra,
                 const Bounds& bounds) {
        for (const int d : domains) {
            const int capacity = machine.domains[d].capacity;
            const bool full = bounds.hi[d] >= capacity;
            if (level != kNone && capacity > level) {
                possible = possible && full;
            } else if (level != kNone && capacity == level) {
                held += bounds.lo[d] > 0 ? 1 : 0;
                fillable += full ? 1 : 0;
                if (bounds.lo[d] > 0 && !full) {
                    force(d);
                }
            } else if (bounds.lo[d] > 0) {
                force(d);
            }
        }
        possible = possible && forced <= (extra > 0 ? 1 : 0);
    }

    void force(int domain) {
        ++forced;
        forced_at = domain;
    }
};

}  // namespace

bool HintProblem::fits_concentrated(int socket, const Shape& best, const Bounds& bounds) const {
    const auto& domains = level_.sockets[socket].domains;
    const Concentrated state(level_, domains, best.level, best.extra, bounds);
    if (!state.possible) {
        return false;
    }
    if (best.extra == 0) {
        return state.held <= best.full && best.full <= state.fillable;
    }
    for (const int d : domains) {
        const int capacity = level_.domains[d].capacity;
        if ((best.level != kNone && capacity > best.level) || capacity < best.extra ||
            bounds.lo[d] > best.extra || bounds.hi[d] < best.extra ||
            (state.forced == 1 && state.forced_at != d)) {
            continue;
        }
        const bool of_level = capacity == best.level;
        const int held = state.held - (of_level && bounds.lo[d] > 0 ? 1 : 0);
        const int fillable = state.fillable - (of_level && bounds.hi[d] >= capacity ? 1 : 0);
        if (held <= best.full && best.full <= fillable) {
            return true;
        }
    }
    return false;
}

void HintProblem::fill(int socket, const Shape& best, const Bounds& bounds,
                       const std::vector<uint8_t>& preferred, std::vector<int>& threads) {
    order_.clear();
    for (const bool wanted : {true, false}) {
        for (const int d : level_.sockets[socket].domains) {
            if ((preferred[d] != 0) == wanted) {
                order_.push_back(d);
            }
        }
    }
    if (!hint_.spread_llcs) {
        fill_concentrated(socket, best, bounds, threads);
        return;
    }
    int extra = best.extra;
    for (const int d : order_) {
        const int capacity = level_.domains[d].capacity;
        threads[d] = std::min(capacity, best.level);
        if (capacity > best.level && bounds.lo[d] > best.level) {
            ++threads[d];
            --extra;
        }
    }
    for (const int d : order_) {
        if (extra > 0 && threads[d] == best.level && bounds.hi[d] > best.level) {
            ++threads[d];
            --extra;
        }
    }
}

void HintProblem::fill_concentrated(int socket, const Shape& best, const Bounds& bounds,
                                    std::vector<int>& threads) {
    const auto& domains = level_.sockets[socket].domains;
    const Concentrated state(level_, domains, best.level, best.extra, bounds);
    const auto capacity = [&](int d) { return level_.domains[d].capacity; };
    // Fills everything but the remainder, which goes to `rest_at`; false when it cannot.
    const auto fill_beside = [&](int rest_at) {
        int full = best.full;
        for (const int d : order_) {
            threads[d] = 0;
            if (d != rest_at && best.level != kNone &&
                (capacity(d) > best.level || (capacity(d) == best.level && bounds.lo[d] > 0))) {
                threads[d] = capacity(d);
                full -= capacity(d) == best.level ? 1 : 0;
            }
        }
        for (const int d : order_) {
            if (full > 0 && d != rest_at && threads[d] == 0 && capacity(d) == best.level &&
                bounds.hi[d] >= capacity(d)) {
                threads[d] = capacity(d);
                --full;
            }
        }
        return full == 0;
    };
    if (best.extra == 0) {
        fill_beside(-1);
        return;
    }
    // Full domains first, then the remainder on the first that is left; only when that fails does
    // the remainder take a domain that could have been full.
    const bool without = fill_beside(state.forced_at);
    for (const bool left_only : {true, false}) {
        if (left_only && !without) {
            continue;
        }
        if (left_only) {
            full_.assign(threads.size(), 0);
            for (const int d : order_) {
                full_[d] = threads[d] > 0 ? 1 : 0;
            }
        }
        for (const int d : order_) {
            if ((best.level != kNone && capacity(d) > best.level) || capacity(d) < best.extra ||
                bounds.lo[d] > best.extra || bounds.hi[d] < best.extra ||
                (state.forced == 1 && state.forced_at != d) || (left_only && full_[d] != 0)) {
                continue;
            }
            if (fill_beside(d)) {
                threads[d] = best.extra;
                return;
            }
        }
    }
}

}  // namespace autofinity::affinity
