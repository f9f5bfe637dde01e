#include "affinity/socket_filling.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace autofinity::affinity {

namespace {

// No domain is so large: the level of a filling without a full domain.
constexpr int kNone = std::numeric_limits<int>::max();

}  // namespace

SocketFilling::SocketFilling(const Level& level, bool spread) : level_(level), spread_(spread) {
    for (const Socket& socket : level.sockets) {
        std::vector<int> capacities;
        for (const int domain : socket.domains) {
            if (level.domains[domain].capacity > 0) {
                capacities.push_back(level.domains[domain].capacity);
            }
        }
        std::sort(capacities.begin(), capacities.end(), std::greater<>());
        capacities_.push_back(std::move(capacities));
    }
}

Shape SocketFilling::shape(int socket, int threads) const {
    const auto& capacities = capacities_[socket];
    if (spread_) {
        int rest = threads;
        int wider = static_cast<int>(capacities.size());
        int water = 0;
        while (rest > 0) {
            // Raises the level until the smallest domain that is not yet full becomes full.
            const int room = (capacities[wider - 1] - water) * wider;
            if (rest < room) {
                return {water + rest / wider, rest % wider, 0};
            }
            rest -= room;
            water = capacities[--wider];
        }
        return {water, 0, 0};
    }
    Shape found{kNone, threads, 0};
    for (const int capacity : capacities) {
        if (found.extra < capacity) {
            break;
        }
        found.extra -= capacity;
        found.full = capacity == found.level ? found.full + 1 : 1;
        found.level = capacity;
    }
    return found;
}

// Σc² of the best filling.
int64_t SocketFilling::squares(int socket, int threads) const {
    const Shape best = shape(socket, threads);
    int64_t sum = 0;
    if (spread_) {
        for (const int capacity : capacities_[socket]) {
            const int64_t held = std::min(capacity, best.level);
            sum += held * held;
        }
        return sum + static_cast<int64_t>(best.extra) * (2 * best.level + 1);
    }
    int rest = threads - best.extra;
    for (const int capacity : capacities_[socket]) {
        if (rest < capacity) {
            break;
        }
        sum += static_cast<int64_t>(capacity) * capacity;
        rest -= capacity;
    }
    return sum + static_cast<int64_t>(best.extra) * best.extra;
}

int SocketFilling::domains_used(int socket, int threads) const {
    const auto& capacities = capacities_[socket];
    if (spread_) {
        return std::min(threads, static_cast<int>(capacities.size()));
    }
    int used = 0;
    for (const int capacity : capacities) {
        if (threads <= 0) {
            break;
        }
        threads -= capacity;
        ++used;
    }
    return used;
}

bool SocketFilling::fits(int socket, const Shape& best, const Bounds& bounds) const {
    if (!spread_) {
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

// The bounds of a concentrated socket as the counts that decide: domains that must, may, or cannot
// be full.
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

    // Whether a domain of this capacity may hold the remainder of `extra` threads.
    bool may_hold_remainder(int domain, int capacity, int level, int extra,
                            const Bounds& bounds) const {
        return (level == kNone || capacity <= level) && capacity >= extra &&
               bounds.lo[domain] <= extra && bounds.hi[domain] >= extra &&
               (forced != 1 || forced_at == domain);
    }

    void force(int domain) {
        ++forced;
        forced_at = domain;
    }
};

}  // namespace

bool SocketFilling::fits_concentrated(int socket, const Shape& best, const Bounds& bounds) const {
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
        if (!state.may_hold_remainder(d, capacity, best.level, best.extra, bounds)) {
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

void SocketFilling::fill(int socket, const Shape& best, const Bounds& bounds,
                         const std::vector<uint8_t>& preferred, std::vector<int>& threads) {
    order_.clear();
    for (const bool wanted : {true, false}) {
        for (const int d : level_.sockets[socket].domains) {
            if ((preferred[d] != 0) == wanted) {
                order_.push_back(d);
            }
        }
    }
    if (!spread_) {
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

void SocketFilling::fill_concentrated(int socket, const Shape& best, const Bounds& bounds,
                                      std::vector<int>& threads) {
    const auto& domains = level_.sockets[socket].domains;
    const Concentrated state(level_, domains, best.level, best.extra, bounds);
    const auto capacity = [&](int d) { return level_.domains[d].capacity; };
    // Fills everything except the remainder, which goes to `rest_at`; false when this is
    // impossible.
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
            if (!state.may_hold_remainder(d, capacity(d), best.level, best.extra, bounds) ||
                (left_only && full_[d] != 0)) {
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
