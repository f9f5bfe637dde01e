#include "affinity/hint_problem.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace autofinity::affinity {

HintProblem::HintProblem(const Level& level, HintBits hint)
    : level_(level),
      hint_(hint),
      words_((level.threads + 64) / 64),
      filling_(level, hint.spread_llcs) {
    // Lexicographic comparison as one number: each key has more weight than all lower ones span.
    // Integers are exact as doubles while they are small, and only those are compared several at a
    // time by any processor.
    const double span = 2.0 * level.threads * level.threads + 1;
    const double largest = span * span * static_cast<double>(level.sockets.size() + 1);
    if (largest < 4e15) {
        solve<double>();
    } else if (largest < 4e18) {
        solve<int64_t>();
    } else {
        solve<__int128>();
    }
}

// Weight of t threads on each socket.
template <typename Key>
std::vector<std::vector<Key>> HintProblem::weights() const {
    const int total = level_.threads;
    const int sockets = static_cast<int>(level_.sockets.size());
    const Key span = 2 * static_cast<Key>(total) * total + 1;
    const Key sign_s = hint_.spread_sockets ? 1 : -1;
    const Key k1 = -sign_s * (hint_.socket_first ? span * span : span);
    const Key k2 = (hint_.spread_llcs ? 1 : -1) *
                   (hint_.socket_first ? span : span * static_cast<Key>(sockets + 1));
    std::vector<std::vector<Key>> found(sockets);
    for (int s = 0; s < sockets; ++s) {
        int same = 0;
        while (filling_.capacities(same) != filling_.capacities(s)) {
            ++same;
        }
        if (same < s) {
            found[s] = found[same];
            continue;
        }
        const int most = std::min(level_.sockets[s].capacity, total);
        for (int t = 0; t <= most; ++t) {
            found[s].push_back(k1 * (t > 0 ? 1 : 0) +
                               k2 * static_cast<Key>(filling_.squares(s, t)) + sign_s * t * t);
        }
    }
    return found;
}

template <typename Key>
void HintProblem::solve() {
    const int total = level_.threads;
    const int sockets = static_cast<int>(level_.sockets.size());
    const std::vector<std::vector<Key>> weight = weights<Key>();

    std::vector<Placed> placed(sockets + 1);
    int before = 0;
    int after = 0;
    for (int s = 0; s <= sockets; ++s) {
        placed[s].most = std::min(total, before);
        before += s < sockets ? level_.sockets[s].capacity : 0;
    }
    for (int s = sockets; s >= 0; --s) {
        placed[s].least = std::max(0, total - after);
        after += s > 0 ? level_.sockets[s - 1].capacity : 0;
    }

    // Row s: best weight of sockets s… for each number of threads on those before.
    std::vector<size_t> row(sockets + 2, 0);
    for (int s = 0; s <= sockets; ++s) {
        row[s + 1] = row[s] + placed[s].most - placed[s].least + 1;
    }
    const Key span = 2 * static_cast<Key>(total) * total + 1;
    std::vector<Key> rest(row[sockets + 1], 2 * span * span * static_cast<Key>(sockets + 1));
    rest[row[sockets]] = 0;
    for (int s = sockets - 1; s >= 0; --s) {
        for (int x = 0; x < static_cast<int>(weight[s].size()); ++x) {
            const int low = std::max(placed[s].least, placed[s + 1].least - x);
            const int high = std::min(placed[s].most, placed[s + 1].most - x);
            const Key cost = weight[s][x];
            Key* mine = rest.data() + row[s] + (low - placed[s].least);
            const Key* next = rest.data() + row[s + 1] + (low + x - placed[s + 1].least);
            for (int i = 0; i <= high - low; ++i) {
                const Key sum = cost + next[i];
                mine[i] = sum < mine[i] ? sum : mine[i];
            }
        }
    }

    // Keeps the optimal steps that lie on a path from the start.
    options_.resize(sockets);
    reach_.assign(static_cast<size_t>(sockets + 1) * words_, 0);
    reach_[static_cast<size_t>(sockets) * words_ + total / 64] = uint64_t{1} << (total % 64);
    stale_.assign(sockets, 1);
    std::vector<uint64_t> here(words_, 0);
    here[0] = 1;
    span_.push_back({0, 0});
    std::vector<int> option_of(total + 1);
    for (int s = 0; s < sockets; ++s) {
        std::vector<uint64_t> there(words_, 0);
        Span reached{words_, 0};
        std::fill(option_of.begin(), option_of.end(), -1);
        for (int word = span_[s].first; word <= span_[s].last; ++word) {
            for (uint64_t bits = here[word]; bits != 0; bits &= bits - 1) {
                const int t = word * 64 + std::countr_zero(bits);
                const Key best = rest[row[s] + (t - placed[s].least)];
                const int low = std::max(0, placed[s + 1].least - t);
                const int high = std::min(static_cast<int>(weight[s].size()) - 1, total - t);
                const Key* cost = weight[s].data() + low;
                const Key* next = rest.data() + row[s + 1] + (t + low - placed[s + 1].least);
                for (int i = 0; i <= high - low; ++i) {
                    if (cost[i] + next[i] != best) {
                        continue;
                    }
                    const int x = low + i;
                    if (option_of[x] < 0) {
                        option_of[x] = static_cast<int>(options_[s].size());
                        options_[s].push_back({x, from_.size(), filling_.shape(s, x)});
                        from_.resize(from_.size() + words_, 0);
                    }
                    from_[options_[s][option_of[x]].from + word] |= bits & -bits;
                    const int arrived = (t + x) / 64;
                    there[arrived] |= uint64_t{1} << ((t + x) % 64);
                    reached = {std::min(reached.first, arrived), std::max(reached.last, arrived)};
                }
            }
        }
        // More threads first: on machines numbered socket by socket that is the smaller list.
        std::sort(options_[s].begin(), options_[s].end(),
                  [](const Option& a, const Option& b) { return a.threads > b.threads; });
        here = std::move(there);
        span_.push_back(reached);
    }
}

void HintProblem::refresh(int socket, const Bounds& bounds) {
    for (Option& option : options_[socket]) {
        const bool allowed = filling_.fits(socket, option.shape, bounds);
        if (allowed != option.allowed) {
            option.allowed = allowed;
            stale_[socket] = 1;
        }
    }
}

bool HintProblem::feasible() {
    bool changed = false;
    for (int s = static_cast<int>(options_.size()) - 1; s >= 0; --s) {
        if (stale_[s] != 0 || changed) {
            changed = update_reach(s);
            stale_[s] = 0;
        }
    }
    return (reach_[0] & 1) != 0;
}

// Recomputes the row of a socket from the next one. Returns whether the row has changed.
bool HintProblem::update_reach(int socket) {
    const uint64_t* next = reach_.data() + static_cast<size_t>(socket + 1) * words_;
    uint64_t* mine = reach_.data() + static_cast<size_t>(socket) * words_;
    bool changed = false;
    for (int w = span_[socket].first; w <= span_[socket].last; ++w) {
        uint64_t reached = 0;
        for (const Option& option : options_[socket]) {
            const int from = w + option.threads / 64;
            const int shift = option.threads % 64;
            if (!option.allowed || from >= words_) {
                continue;
            }
            uint64_t moved = next[from] >> shift;
            if (shift != 0 && from + 1 < words_) {
                moved |= next[from + 1] << (64 - shift);
            }
            reached |= moved & from_[option.from + w];
        }
        changed = changed || reached != mine[w];
        mine[w] = reached;
    }
    return changed;
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
            if (option.allowed && optimal(option, placed) &&
                reaches_end(s + 1, placed + option.threads)) {
                filling_.fill(s, option.shape, bounds, preferred, threads);
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
    // Fewest nodes of the sockets before, by the number of threads on them.
    constexpr int unreached = std::numeric_limits<int>::max();
    std::vector<int> here(level_.threads + 1, unreached);
    std::vector<int> there(level_.threads + 1, unreached);
    here[0] = 0;
    for (int s = 0; s < static_cast<int>(options_.size()); ++s) {
        std::fill(there.begin(), there.end(), unreached);
        for (const Option& option : options_[s]) {
            const int used = filling_.domains_used(s, option.threads);
            const int nodes = nodes_needed(level_, s, used, option.threads);
            for (int w = span_[s].first; w <= span_[s].last; ++w) {
                for (uint64_t bits = from_[option.from + w]; bits != 0; bits &= bits - 1) {
                    const int t = w * 64 + std::countr_zero(bits);
                    int& fewest = there[t + option.threads];
                    fewest = std::min(fewest, here[t] + nodes);
                }
            }
        }
        std::swap(here, there);
    }
    return std::max(1, here[level_.threads]);
}

}  // namespace autofinity::affinity
