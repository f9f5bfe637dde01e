#include "affinity/partial_set.hpp"

#include <algorithm>

namespace autofinity::affinity {

PartialSet::PartialSet(const Level& level, Problem& problem, std::size_t nodes)
    : level_(level),
      problem_(problem),
      taken_(level.cells.size(), 0),
      closed_(level.cells.size(), 0),
      held_(level.cells.size(), 0),
      domain_held_(level.domains.size(), 0),
      preferred_(level.domains.size(), 0),
      dirty_(level.sockets.size(), 1),
      included_(nodes, 0),
      excluded_(nodes, 0),
      cells_of_node_(nodes) {
    bounds_.lo.assign(level.domains.size(), 0);
    for (const Domain& domain : level.domains) {
        bounds_.hi.push_back(domain.capacity);
    }
    for (size_t c = 0; c < level.cells.size(); ++c) {
        cells_of_node_[level.cells[c].node].push_back(static_cast<int>(c));
    }
}

bool PartialSet::solve() {
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
                                        [&](int c) { return included(level_.cells[c].node); });
        }
    }
    problem_.witness(bounds_, preferred_, domain_held_);
    spread_over_cells();
    return true;
}

// Cells on nodes that are used anyway first.
void PartialSet::spread_over_cells() {
    for (size_t d = 0; d < level_.domains.size(); ++d) {
        const auto& cells = level_.domains[d].cells;
        int rest = domain_held_[d];
        for (const int c : cells) {
            held_[c] = taken_[c];
            rest -= taken_[c];
        }
        for (const bool first : {true, false}) {
            for (const int c : cells) {
                if (!open(c) || included(level_.cells[c].node) != first) {
                    continue;
                }
                const int more = std::min(rest, level_.cells[c].capacity - held_[c]);
                held_[c] += more;
                rest -= more;
            }
        }
    }
}

bool PartialSet::uses(int node) const {
    const auto& cells = cells_of_node_[node];
    return std::any_of(cells.begin(), cells.end(), [&](int c) { return held_[c] > 0; });
}

void PartialSet::take(int cell, int by) {
    const int domain = level_.cells[cell].domain;
    taken_[cell] += by;
    bounds_.lo[domain] += by;
    include(level_.cells[cell].node, by);
    dirty_[level_.domains[domain].socket] = 1;
}

void PartialSet::close(int cell) {
    const int domain = level_.cells[cell].domain;
    closed_[cell] = 1;
    bounds_.hi[domain] -= level_.cells[cell].capacity - taken_[cell];
    dirty_[level_.domains[domain].socket] = 1;
}

void PartialSet::exclude(int node, bool on) {
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

bool PartialSet::untouched(int node) const {
    return !included(node) && !excluded(node) &&
           std::none_of(cells_of_node_[node].begin(), cells_of_node_[node].end(),
                        [&](int c) { return closed_[c] != 0; });
}

}  // namespace autofinity::affinity
