#include "affinity/machine.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace autofinity::affinity {

Machine::Machine(std::vector<Pu> pus, std::vector<int64_t> distances, int nodes)
    : pus_(std::move(pus)), distances_(std::move(distances)), nodes_(nodes) {
    if (distances_.size() != static_cast<size_t>(nodes) * nodes) {
        throw std::invalid_argument("the distances are not a square matrix over the nodes");
    }
    const int count = static_cast<int>(pus_.size());
    by_os_.resize(count);
    std::iota(by_os_.begin(), by_os_.end(), 0);
    by_core_ = by_os_;
    std::sort(by_os_.begin(), by_os_.end(), [&](int a, int b) { return pus_[a].os < pus_[b].os; });
    std::sort(by_core_.begin(), by_core_.end(), [&](int a, int b) {
        return std::pair(pus_[a].core, pus_[a].smt_rank) <
               std::pair(pus_[b].core, pus_[b].smt_rank);
    });
    for (int i = 0; i < count; ++i) {
        const Pu& pu = pus_[i];
        if (pu.core < 0 || pu.domain < 0 || pu.socket < 0 || pu.node < 0 || pu.node >= nodes) {
            throw std::invalid_argument("a PU has an index outside the machine");
        }
        if (!of_os_.emplace(pu.os, i).second) {
            throw std::invalid_argument("two PUs have the same OS index");
        }
        sockets_ = std::max(sockets_, pu.socket + 1);
        if (pu.domain >= static_cast<int>(socket_of_domain_.size())) {
            socket_of_domain_.resize(pu.domain + 1, 0);
        }
        socket_of_domain_[pu.domain] = pu.socket;
    }
    for (int a = 0; a < nodes; ++a) {
        int twin = 0;
        for (; twin < a; ++twin) {
            bool alike = twins_[twin] == twin;
            for (int other = 0; alike && other < nodes; ++other) {
                alike = other == a || other == twin || distance(a, other) == distance(twin, other);
            }
            if (alike) {
                break;
            }
        }
        twins_.push_back(twin);
    }
}

int Machine::find(int64_t os) const {
    const auto found = of_os_.find(os);
    return found == of_os_.end() ? -1 : found->second;
}

Level make_level(const Machine& machine, const std::vector<uint8_t>& available, int threads) {
    const auto& pus = machine.pus();
    Level level;
    std::vector<int> rank(pus.size(), -1);  // among the available PUs of the core
    std::vector<int> per_rank;
    int core = -1;
    int next = 0;
    for (const int i : machine.by_core()) {
        if (pus[i].core != core) {
            core = pus[i].core;
            next = 0;
        }
        if (!available[i]) {
            continue;
        }
        rank[i] = next++;
        if (next > static_cast<int>(per_rank.size())) {
            per_rank.push_back(0);
        }
        ++per_rank[rank[i]];
        ++level.usable;
    }
    if (threads > level.usable || threads <= 0) {
        return level;
    }
    int at = 0;
    int rest = threads;
    while (rest > per_rank[at]) {
        rest -= per_rank[at++];
    }
    level.threads = rest;

    std::vector<int> domain_at(machine.socket_of_domain().size(), -1);
    std::vector<int> socket_at(machine.sockets(), -1);
    std::vector<uint8_t> node_seen(machine.nodes(), 0);
    level.slots.reserve(per_rank[at]);
    for (const int i : machine.by_os()) {
        if (rank[i] < 0 || rank[i] > at) {
            continue;
        }
        const Pu& pu = pus[i];
        if (socket_at[pu.socket] < 0) {
            socket_at[pu.socket] = static_cast<int>(level.sockets.size());
            level.sockets.emplace_back();
        }
        if (domain_at[pu.domain] < 0) {
            domain_at[pu.domain] = static_cast<int>(level.domains.size());
            level.sockets[socket_at[pu.socket]].domains.push_back(domain_at[pu.domain]);
            level.domains.push_back({pu.domain, socket_at[pu.socket], 0, 0, {}});
        }
        const int index = domain_at[pu.domain];
        Domain& domain = level.domains[index];
        if (rank[i] < at) {
            ++domain.base;
            level.below.push_back(i);
            continue;
        }
        int cell = -1;
        for (const int candidate : domain.cells) {
            if (level.cells[candidate].node == pu.node) {
                cell = candidate;
            }
        }
        if (cell < 0) {
            cell = static_cast<int>(level.cells.size());
            level.cells.push_back({index, pu.node, 0});
            domain.cells.push_back(cell);
        }
        if (!node_seen[pu.node]) {
            node_seen[pu.node] = 1;
            level.nodes.push_back(pu.node);
        }
        ++level.cells[cell].capacity;
        ++domain.capacity;
        ++level.sockets[domain.socket].capacity;
        level.slots.push_back({i, cell});
    }
    return level;
}

}  // namespace autofinity::affinity
