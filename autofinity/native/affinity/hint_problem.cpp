#include "affinity/hint_problem.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>

namespace autofinity::affinity {

HintProblem::HintProblem(const Level& level, HintBits hint)
    : level_(level), hint_(hint), words_((level.threads + 64) / 64) {
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
    // Lexicographic comparison as one number: each key has more weight than all lower ones span.
    const double span = 2.0 * level.threads * level.threads + 1;
    const double largest = span * span * static_cast<double>(level.sockets.size() + 1);
    if (largest < 4e18) {
        solve<int64_t>(hint.spread_sockets ? -1 : 1, hint.spread_llcs ? 1 : -1,
                       hint.spread_sockets ? 1 : -1);
    } else {
        solve<__int128>(hint.spread_sockets ? -1 : 1, hint.spread_llcs ? 1 : -1,
                        hint.spread_sockets ? 1 : -1);
    }
}

HintProblem::Shape HintProblem::shape(int socket, int threads) const {
    const auto& capacities = capacities_[socket];
    if (hint_.spread_llcs) {
        int rest = threads;
        int wider = static_cast<int>(capacities.size());
        int water = 0;
        while (rest > 0) {
            // Raise the level until the smallest domain that is not yet full is.
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
int64_t HintProblem::squares(int socket, int threads) const {
    const Shape best = shape(socket, threads);
    int64_t sum = 0;
    if (hint_.spread_llcs) {
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

template <typename Key>
void HintProblem::solve(int64_t k1_sign, int64_t k2_sign, int64_t k3_sign) {
    const int total = level_.threads;
    const int sockets = static_cast<int>(level_.sockets.size());
    const Key span = 2 * static_cast<Key>(total) * total + 1;
    const Key unit_k1 = hint_.socket_first ? span * span : span;
    const Key unit_k2 = hint_.socket_first ? span : span * (sockets + 1);

    std::vector<std::vector<Key>> weight(sockets);
    std::vector<int> before(sockets + 1, 0);  // capacity of the sockets before
    for (int s = 0; s < sockets; ++s) {
        const int capacity = level_.sockets[s].capacity;
        before[s + 1] = before[s] + capacity;
        int same = 0;
        while (same < s && capacities_[same] != capacities_[s]) {
            ++same;
        }
        if (same < s) {
            weight[s] = weight[same];
            continue;
        }
        const int most = std::min(capacity, total);
        weight[s].resize(most + 1);
        for (int t = 0; t <= most; ++t) {
            weight[s][t] = k1_sign * unit_k1 * (t > 0 ? 1 : 0) +
                           k2_sign * unit_k2 * static_cast<Key>(squares(s, t)) +
                           static_cast<Key>(k3_sign) * t * t;
        }
    }

    // rest[s][t]: best weight of sockets s… when t threads sit on those before.
    const int stride = total + 1;
    std::vector<Key> rest(static_cast<size_t>(sockets + 1) * stride, 0);
    const auto least = [&](int s, int t) {  // threads that socket s must take
        return std::max(0, total - (before[sockets] - before[s + 1]) - t);
    };
    const auto most = [&](int s, int t) { return std::min(level_.sockets[s].capacity, total - t); };
    for (int s = sockets - 1; s >= 0; --s) {
        const Key* next = rest.data() + static_cast<size_t>(s + 1) * stride;
        const Key* cost = weight[s].data();
        const int first = std::max(0, total - (before[sockets] - before[s]));
        const int last = std::min(total, before[s]);
        for (int t = first; t <= last; ++t) {
            const int low = least(s, t);
            const int high = most(s, t);
            Key best = cost[low] + next[t + low];
            for (int x = low + 1; x <= high; ++x) {
                const Key sum = cost[x] + next[t + x];
                best = sum < best ? sum : best;
            }
            rest[static_cast<size_t>(s) * stride + t] = best;
        }
    }

    // Keep the optimal steps that lie on a path from the start.
    options_.resize(sockets);
    reach_.assign(static_cast<size_t>(sockets + 1) * words_, 0);
    std::vector<uint64_t> here(words_, 0);
    here[0] = 1;
    std::vector<int> option_of(stride);
    for (int s = 0; s < sockets; ++s) {
        std::vector<uint64_t> there(words_, 0);
        std::fill(option_of.begin(), option_of.end(), -1);
        for (int word = 0; word < words_; ++word) {
            for (uint64_t bits = here[word]; bits != 0; bits &= bits - 1) {
                const int t = word * 64 + std::countr_zero(bits);
                const Key best = rest[static_cast<size_t>(s) * stride + t];
                const Key* next = rest.data() + static_cast<size_t>(s + 1) * stride + t;
                for (int x = least(s, t); x <= most(s, t); ++x) {
                    if (weight[s][x] + next[x] != best) {
                        continue;
                    }
                    if (option_of[x] < 0) {
                        option_of[x] = static_cast<int>(options_[s].size());
                        options_[s].push_back({x, std::vector<uint64_t>(words_, 0), shape(s, x)});
                    }
                    options_[s][option_of[x]].from[word] |= bits & -bits;
                    there[(t + x) / 64] |= uint64_t{1} << ((t + x) % 64);
                }
            }
        }
        // More threads first: on machines numbered socket by socket that is the smaller list.
        std::sort(options_[s].begin(), options_[s].end(),
                  [](const Option& a, const Option& b) { return a.threads > b.threads; });
        here = std::move(there);
    }
}

void HintProblem::refresh(int socket, const Bounds& bounds) {
    for (Option& option : options_[socket]) {
        option.allowed = fits(socket, option.shape, bounds);
    }
}

bool HintProblem::feasible() {
    const int sockets = static_cast<int>(options_.size());
    std::fill(reach_.begin(), reach_.end(), 0);
    reach_[static_cast<size_t>(sockets) * words_ + level_.threads / 64] |= uint64_t{1}
                                                                           << (level_.threads % 64);
    for (int s = sockets - 1; s >= 0; --s) {
        const uint64_t* next = reach_.data() + static_cast<size_t>(s + 1) * words_;
        uint64_t* mine = reach_.data() + static_cast<size_t>(s) * words_;
        for (const Option& option : options_[s]) {
            if (!option.allowed) {
                continue;
            }
            const int skip = option.threads / 64;
            const int shift = option.threads % 64;
            for (int w = 0; w + skip < words_; ++w) {
                uint64_t moved = next[w + skip] >> shift;
                if (shift != 0 && w + skip + 1 < words_) {
                    moved |= next[w + skip + 1] << (64 - shift);
                }
                mine[w] |= moved & option.from[w];
            }
        }
    }
    return (reach_[0] & 1) != 0;
}

bool HintProblem::reaches_end(int socket, int placed) const {
    return placed <= level_.threads &&
           (reach_[static_cast<size_t>(socket) * words_ + placed / 64] >> (placed % 64) & 1) != 0;
}

void HintProblem::witness(const Bounds& bounds, const std::vector<uint8_t>& preferred,
                          std::vector<int>& threads) {
    int placed = 0;
    for (int s = 0; s < static_cast<int>(options_.size()); ++s) {
        for (const Option& option : options_[s]) {
            if (option.allowed && (option.from[placed / 64] >> (placed % 64) & 1) != 0 &&
                reaches_end(s + 1, placed + option.threads)) {
                fill(s, option.shape, bounds, preferred, threads);
                placed += option.threads;
                break;
            }
        }
    }
}

int HintProblem::min_nodes() const {
    if (nodes_span_sockets(level_)) {
        return 1;
    }
    const int stride = level_.threads + 1;
    const int sockets = static_cast<int>(options_.size());
    std::vector<int> here(stride, kNone);
    here[0] = 0;
    for (int s = 0; s < sockets; ++s) {
        std::vector<int> there(stride, kNone);
        for (const Option& option : options_[s]) {
            int used = 0;
            if (hint_.spread_llcs) {
                used = std::min(option.threads, static_cast<int>(capacities_[s].size()));
            } else {
                int rest = option.threads;
                for (const int capacity : capacities_[s]) {
                    if (rest <= 0) {
                        break;
                    }
                    rest -= capacity;
                    ++used;
                }
            }
            const int nodes = nodes_needed(level_, s, used, option.threads);
            for (int t = 0; t + option.threads < stride; ++t) {
                if (here[t] != kNone && (option.from[t / 64] >> (t % 64) & 1) != 0) {
                    there[t + option.threads] =
                        std::min(there[t + option.threads], here[t] + nodes);
                }
            }
        }
        here = std::move(there);
    }
    return std::max(1, here[level_.threads]);
}

}  // namespace autofinity::affinity
