#include "affinity/level.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

namespace autofinity::affinity {

namespace {

// Levels among the available PUs only.
struct Ranks {
    std::vector<int> of_pu;  // -1 where the PU is not available
    std::vector<int> sizes;  // PUs of each level
};

// SMT rank among the available PUs, by PU; -1 where a PU is not available.
std::vector<int> smt_ranks(const topology::Machine& machine,
                           const std::vector<uint8_t>& available) {
    const auto& pus = machine.pus();
    std::vector<int> found(pus.size(), -1);
    int core = -1;
    int next = 0;
    for (const int i : machine.by_core()) {
        if (pus[i].core != core) {
            core = pus[i].core;
            next = 0;
        }
        if (available[i]) {
            found[i] = next++;
        }
    }
    return found;
}

Ranks ranks_of(const topology::Machine& machine, const std::vector<uint8_t>& available,
               Kinds kinds) {
    const std::vector<int> smt = smt_ranks(machine, available);
    // By SMT rank and kind, in the order in which PUs are taken.
    const auto place = [&](std::size_t i) {
        return std::pair(smt[i], kinds == Kinds::alike ? 0 : -machine.pus()[i].kind);
    };
    std::map<std::pair<int, int>, int> level_of;
    for (std::size_t i = 0; i < smt.size(); ++i) {
        if (smt[i] >= 0) {
            level_of.emplace(place(i), 0);
        }
    }
    int count = 0;
    for (auto& [at, level] : level_of) {
        level = count++;
    }
    Ranks found{std::vector<int>(smt.size(), -1), std::vector<int>(level_of.size(), 0)};
    for (std::size_t i = 0; i < smt.size(); ++i) {
        if (smt[i] >= 0) {
            found.of_pu[i] = level_of.at(place(i));
            ++found.sizes[found.of_pu[i]];
        }
    }
    return found;
}

bool of_one_kind(const topology::Machine& machine, const std::vector<uint8_t>& available) {
    int kind = -1;
    for (std::size_t i = 0; i < available.size(); ++i) {
        if (!available[i]) continue;
        if (kind >= 0 && machine.pus()[i].kind != kind) return false;
        kind = machine.pus()[i].kind;
    }
    return true;
}

// Available PUs, core by core in the order of their first PUs, in each core the lower ranks first.
std::vector<int> core_by_core(const topology::Machine& machine, const std::vector<int>& smt) {
    std::map<int, int> first;  // by core: the place of its first PU
    std::vector<std::tuple<int, int, int>> order;
    int place = 0;
    for (const int i : machine.by_kind()) {
        if (smt[i] == 0) first.emplace(machine.pus()[i].core, place++);
    }
    for (const int i : machine.by_kind()) {
        if (smt[i] >= 0) order.emplace_back(first.at(machine.pus()[i].core), smt[i], i);
    }
    std::sort(order.begin(), order.end());
    std::vector<int> found;
    for (const auto& [core, rank, pu] : order) found.push_back(pu);
    return found;
}

// Adds PUs to a level and finds the parts that hold them; new parts are made.
class Filling {
  public:
    Filling(const topology::Machine& machine, Level& level)
        : level_(level),
          domain_at_(machine.llcs(), -1),
          socket_at_(machine.sockets(), -1),
          node_seen_(machine.nodes(), 0) {}

    void add_below(int index, const topology::Pu& pu) {
        ++level_.domains[domain_of(pu)].base;
        level_.below.push_back(index);
    }

    void add_slot(int index, const topology::Pu& pu) {
        const int at = domain_of(pu);
        Domain& domain = level_.domains[at];
        const int cell = cell_of(at, pu.node);
        if (!node_seen_[pu.node]) {
            node_seen_[pu.node] = 1;
            level_.nodes.push_back(pu.node);
        }
        ++level_.cells[cell].capacity;
        ++domain.capacity;
        ++level_.sockets[domain.socket].capacity;
        level_.slots.push_back({index, cell});
    }

  private:
    int domain_of(const topology::Pu& pu) {
        int& socket = socket_at_[pu.socket];
        if (socket < 0) {
            socket = static_cast<int>(level_.sockets.size());
            level_.sockets.emplace_back();
        }
        int& domain = domain_at_[pu.llc];
        if (domain < 0) {
            domain = static_cast<int>(level_.domains.size());
            level_.sockets[socket].domains.push_back(domain);
            level_.domains.push_back({pu.llc, socket, 0, 0, {}});
        }
        return domain;
    }

    int cell_of(int domain, int node) {
        auto& cells = level_.domains[domain].cells;
        for (const int cell : cells) {
            if (level_.cells[cell].node == node) {
                return cell;
            }
        }
        cells.push_back(static_cast<int>(level_.cells.size()));
        level_.cells.push_back({domain, node, 0});
        return cells.back();
    }

    Level& level_;
    std::vector<int> domain_at_;  // in the level, by LLC domain of the machine
    std::vector<int> socket_at_;
    std::vector<uint8_t> node_seen_;
};

}  // namespace

Level make_level(const topology::Machine& machine, const std::vector<uint8_t>& available,
                 int threads, Kinds kinds, Siblings siblings) {
    const Ranks ranks = ranks_of(machine, available, kinds);
    Level level;
    for (const int size : ranks.sizes) {
        level.usable += size;
    }
    if (threads > level.usable || threads <= 0) {
        return level;
    }
    int last = 0;
    level.threads = threads;
    const int cores = ranks.sizes[0];
    const bool full =
        threads > cores || (threads == cores && cores == static_cast<int>(machine.cores()));
    if (siblings == Siblings::together && full && level.usable > cores &&
        of_one_kind(machine, available)) {
        Filling filling(machine, level);
        for (const int i : core_by_core(machine, smt_ranks(machine, available)))
            filling.add_slot(i, machine.pus()[i]);
        return level;
    }
    while (level.threads > ranks.sizes[last]) {
        level.threads -= ranks.sizes[last++];
    }
    level.slots.reserve(ranks.sizes[last]);
    Filling filling(machine, level);
    for (const int i : machine.by_kind()) {
        const int rank = ranks.of_pu[i];
        if (rank == last) {
            filling.add_slot(i, machine.pus()[i]);
        } else if (rank >= 0 && rank < last) {
            filling.add_below(i, machine.pus()[i]);
        }
    }
    return level;
}

}  // namespace autofinity::affinity
