#include "affinity/search.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace autofinity::affinity {

Search::Search(const Machine& machine, const Level& level, Problem& problem)
    : machine_(machine),
      level_(level),
      problem_(problem),
      taken_(level.cells.size(), 0),
      closed_(level.cells.size(), 0),
      held_(level.cells.size(), 0),
      domain_held_(level.domains.size(), 0),
      preferred_(level.domains.size(), 0),
      dirty_(level.sockets.size(), 1),
      included_(machine.nodes(), 0),
      excluded_(machine.nodes(), 0),
      cells_of_node_(machine.nodes()) {
    bounds_.lo.assign(level.domains.size(), 0);
    for (const Domain& domain : level.domains) {
        bounds_.hi.push_back(domain.capacity);
    }
    for (size_t c = 0; c < level.cells.size(); ++c) {
        cells_of_node_[level.cells[c].node].push_back(static_cast<int>(c));
    }
}

// A witness within the bounds, if there is one.
bool Search::solve() {
    for (size_t s = 0; s < dirty_.size(); ++s) {
        if (dirty_[s]) {
            problem_.refresh(static_cast<int>(s), bounds_);
            dirty_[s] = 0;
        }
    }
    if (!problem_.feasible()) {
        return false;
    }
    if (level_.nodes.size() > 1) {
        for (size_t d = 0; d < preferred_.size(); ++d) {
            const auto& cells = level_.domains[d].cells;
            preferred_[d] = std::any_of(cells.begin(), cells.end(),
                                        [&](int c) { return included_[level_.cells[c].node] > 0; });
        }
    }
    problem_.witness(bounds_, preferred_, domain_held_);
    spread_over_cells();
    return true;
}

void Search::spread_over_cells() {
    for (size_t d = 0; d < level_.domains.size(); ++d) {
        const auto& cells = level_.domains[d].cells;
        int rest = domain_held_[d];
        for (const int c : cells) {
            held_[c] = taken_[c];
            rest -= taken_[c];
        }
        for (const bool included : {true, false}) {
            for (const int c : cells) {
                const int node = level_.cells[c].node;
                if (closed_[c] || excluded_[node] || (included_[node] > 0) != included) {
                    continue;
                }
                const int more = std::min(rest, level_.cells[c].capacity - held_[c]);
                held_[c] += more;
                rest -= more;
            }
        }
    }
}

void Search::exclude(int node, bool on) {
    excluded_[node] = on ? 1 : 0;
    for (const int c : cells_of_node_[node]) {
        if (closed_[c]) {
            continue;
        }
        const Cell& cell = level_.cells[c];
        bounds_.hi[cell.domain] += (on ? -1 : 1) * (cell.capacity - taken_[c]);
        dirty_[level_.domains[cell.domain].socket] = 1;
    }
}

void Search::include(int node, int by) { included_[node] += by; }

void Search::take(int cell, int by) {
    const int domain = level_.cells[cell].domain;
    taken_[cell] += by;
    bounds_.lo[domain] += by;
    included_[level_.cells[cell].node] += by;
    dirty_[level_.domains[domain].socket] = 1;
}

// Slots in ascending order of OS index: taken if some acceptable set holds it beside those taken.
std::vector<int> Search::smallest_list(bool by_distance, int64_t target) {
    std::vector<int> chosen;
    std::vector<int> witness = held_;
    int rest = level_.threads;
    for (const Slot& slot : level_.slots) {
        if (rest == 0) {
            break;
        }
        const Cell& cell = level_.cells[slot.cell];
        if (closed_[slot.cell] || excluded_[cell.node]) {
            continue;
        }
        const bool known = witness[slot.cell] > taken_[slot.cell];
        take(slot.cell, 1);
        if (known || (by_distance ? find(target) : solve())) {
            if (!known) {
                witness = held_;
            }
            chosen.push_back(slot.pu);
            --rest;
            continue;
        }
        // Later slots of the cell are no better: what they could do, this one could.
        take(slot.cell, -1);
        closed_[slot.cell] = 1;
        bounds_.hi[cell.domain] -= cell.capacity - taken_[slot.cell];
    }
    return chosen;
}

std::vector<int> Search::run() {
    if (!solve()) {
        return {};
    }
    const int nodes = static_cast<int>(level_.nodes.size());
    if (nodes == 1) {
        return smallest_list(false, kAny);
    }
    min_nodes_ = problem_.min_nodes();
    if (nodes > kExactNodes) {
        choose_nodes_greedily();
        return solve() ? smallest_list(false, kAny) : std::vector<int>();
    }
    Nodes used;
    int64_t nearest = used_distance(&used);
    std::vector<int> best = held_;
    while (find(nearest - 1)) {
        nearest = used_distance(&used);
        best = held_;
    }
    held_ = best;
    return smallest_list(true, nearest);
}

}  // namespace autofinity::affinity
