#include "affinity/class_problem.hpp"

#include <algorithm>
#include <utility>

namespace autofinity::affinity {

ClassProblem::ClassProblem(const Level& level, std::vector<std::vector<int>> occupancy)
    : level_(level), patterns_(std::move(occupancy)) {
    const size_t sockets = level.sockets.size();
    fits_machine_ = patterns_.size() <= sockets;
    patterns_.resize(sockets);
    for (auto& pattern : patterns_) {
        std::sort(pattern.begin(), pattern.end());
    }
    for (size_t p = 0; p < sockets; ++p) {
        const auto first = std::find(patterns_.begin(), patterns_.end(), patterns_[p]);
        kind_.push_back(static_cast<int>(first - patterns_.begin()));
    }
    compatible_.assign(sockets, std::vector<uint8_t>(sockets, 0));
}

// Matches counts to domains: counts ascending, each to the open domain that closes first. Exact for
// points and intervals. Domains without a count hold none.
bool ClassProblem::assign(int socket, const std::vector<int>& counts, const Bounds& bounds,
                          std::vector<int>* threads) const {
    const auto& domains = level_.sockets[socket].domains;
    if (counts.size() > domains.size()) {
        return false;
    }
    std::vector<int> open = domains;
    const size_t zeros = domains.size() - counts.size();
    for (size_t i = 0; i < domains.size(); ++i) {
        const int count = i < zeros ? 0 : counts[i - zeros];
        int chosen = -1;
        int closes = 0;
        for (int& d : open) {
            if (d < 0) {
                continue;
            }
            const int base = level_.domains[d].base;
            if (bounds.lo[d] + base <= count && count <= bounds.hi[d] + base &&
                (chosen < 0 || bounds.hi[d] + base < closes)) {
                chosen = d;
                closes = bounds.hi[d] + base;
            }
        }
        if (chosen < 0) {
            return false;
        }
        std::replace(open.begin(), open.end(), chosen, -1);
        if (threads != nullptr) {
            (*threads)[chosen] = count - level_.domains[chosen].base;
        }
    }
    return true;
}

void ClassProblem::refresh(int socket, const Bounds& bounds) {
    for (size_t p = 0; p < patterns_.size(); ++p) {
        if (kind_[p] == static_cast<int>(p)) {
            compatible_[socket][p] = assign(socket, patterns_[p], bounds, nullptr) ? 1 : 0;
        }
    }
}

bool ClassProblem::augment(int socket, std::vector<uint8_t>& seen) {
    for (size_t p = 0; p < patterns_.size(); ++p) {
        if (seen[p] || !compatible_[socket][kind_[p]]) {
            continue;
        }
        seen[p] = 1;
        if (socket_of_[p] < 0 || augment(socket_of_[p], seen)) {
            socket_of_[p] = socket;
            pattern_of_[socket] = static_cast<int>(p);
            return true;
        }
    }
    return false;
}

bool ClassProblem::feasible() {
    if (!fits_machine_) {
        return false;
    }
    const size_t sockets = patterns_.size();
    pattern_of_.assign(sockets, -1);
    socket_of_.assign(sockets, -1);
    for (size_t s = 0; s < sockets; ++s) {
        std::vector<uint8_t> seen(sockets, 0);
        if (!augment(static_cast<int>(s), seen)) {
            return false;
        }
    }
    return true;
}

void ClassProblem::witness(const Bounds& bounds, const std::vector<uint8_t>&,
                           std::vector<int>& threads) {
    for (size_t s = 0; s < patterns_.size(); ++s) {
        assign(static_cast<int>(s), patterns_[pattern_of_[s]], bounds, &threads);
    }
}

int ClassProblem::min_nodes() const {
    if (nodes_span_sockets(level_)) {
        return 1;
    }
    int sum = 0;
    for (const auto& pattern : patterns_) {
        int used = 0;
        for (const int count : pattern) {
            used += count > 0 ? 1 : 0;
        }
        // On a higher SMT level the counts include the levels below: no bound but one node.
        const bool first_level = level_.below.empty();
        int threads = 0;
        for (const int count : pattern) {
            threads += count;
        }
        int fewest = used > 0 ? used : 0;
        for (size_t s = 0; s < level_.sockets.size(); ++s) {
            fewest = std::min(fewest, nodes_needed(level_, static_cast<int>(s), used, threads));
        }
        sum += first_level ? fewest : 0;
    }
    return std::max(1, sum);
}

}  // namespace autofinity::affinity
