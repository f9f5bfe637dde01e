// Which nodes: the nearest to each other, exactly for few nodes and greedily for many.
#include <algorithm>
#include <array>
#include <utility>

#include "affinity/search.hpp"

namespace autofinity::affinity {

// Sum of distances between the nodes of the witness, each pair there and back.
int64_t Search::used_distance(Nodes* used) const {
    used->count = 0;
    int64_t sum = 0;
    for (const int node : level_.nodes) {
        const auto& cells = cells_of_node_[node];
        if (std::none_of(cells.begin(), cells.end(), [&](int c) { return held_[c] > 0; })) {
            continue;
        }
        for (const int other : *used) {
            sum += machine_.distance(node, other);
        }
        used->add(node);
    }
    return sum;
}

// No acceptable set that uses all included and no excluded nodes is nearer than this.
int64_t Search::lower_bound() const {
    std::array<int, kExactNodes> in;
    std::array<int, kExactNodes> out;
    int ins = 0;
    int outs = 0;
    for (const int node : level_.nodes) {
        if (included_[node] > 0) {
            in[ins++] = node;
        } else if (!excluded_[node]) {
            out[outs++] = node;
        }
    }
    int64_t sum = 0;
    for (int a = 0; a < ins; ++a) {
        for (int b = a + 1; b < ins; ++b) {
            sum += machine_.distance(in[a], in[b]);
        }
    }
    const int more = min_nodes_ - ins;
    if (more <= 0 || more > outs) {
        return sum;
    }
    // Each further node pays its way to all included ones and, at best, to its nearest others; the
    // latter are counted from both ends, so everything is doubled here.
    std::array<int64_t, kExactNodes> costs;
    std::array<int64_t, kExactNodes> near;
    for (int i = 0; i < outs; ++i) {
        costs[i] = 0;
        for (int a = 0; a < ins; ++a) {
            costs[i] += 2 * machine_.distance(out[i], in[a]);
        }
        int others = 0;
        for (int j = 0; j < outs; ++j) {
            if (j != i) {
                near[others++] = machine_.distance(out[i], out[j]);
            }
        }
        std::sort(near.begin(), near.begin() + others);
        for (int j = 0; j < more - 1; ++j) {
            costs[i] += near[j];
        }
    }
    std::sort(costs.begin(), costs.begin() + outs);
    int64_t doubled = 0;
    for (int i = 0; i < more; ++i) {
        doubled += costs[i];
    }
    return sum + (doubled + 1) / 2;
}

// Nodes are twins when exchanging them changes nothing: the same sizes of domains of their own on
// the same socket, and the same distances to all other nodes.
void Search::find_twins() {
    using Shape = std::vector<std::array<int, 3>>;
    std::vector<Shape> shapes(machine_.nodes());
    for (const int node : level_.nodes) {
        Shape& shape = shapes[node];
        for (const int c : cells_of_node_[node]) {
            const Domain& domain = level_.domains[level_.cells[c].domain];
            if (domain.cells.size() > 1) {
                shape.assign(1, {-1, node, 0});  // a domain shared with other nodes: like no other
                break;
            }
            shape.push_back({domain.socket, domain.base, domain.capacity});
        }
        std::sort(shape.begin(), shape.end());
    }
    twins_.assign(machine_.nodes(), -1);
    for (const int a : level_.nodes) {
        for (const int b : level_.nodes) {
            if (a == b || (twins_[b] == b && machine_.twins()[a] == machine_.twins()[b] &&
                           shapes[a] == shapes[b])) {
                twins_[a] = b;
                break;
            }
        }
    }
}

bool Search::untouched(int node) const {
    return included_[node] == 0 && !excluded_[node] &&
           std::none_of(cells_of_node_[node].begin(), cells_of_node_[node].end(),
                        [&](int c) { return closed_[c] != 0; });
}

// Finds a witness whose nodes are no further apart than `target`: branch and bound, on a node that
// the present witness uses and that is not yet known to be needed.
bool Search::find(int64_t target) {
    if (!solve()) {
        return false;
    }
    Nodes used;
    if (used_distance(&used) <= target) {
        return true;
    }
    Nodes tried;
    bool found = false;
    while (!found && lower_bound() <= target) {
        int worst = -1;
        int64_t most = -1;
        for (const int node : used) {
            if (included_[node] > 0) {
                continue;
            }
            int64_t cost = 0;
            for (const int other : used) {
                cost += other == node ? 0 : machine_.distance(node, other);
            }
            if (cost > most) {
                most = cost;
                worst = node;
            }
        }
        if (worst < 0) {
            break;
        }
        const bool symmetric = untouched(worst);
        exclude(worst, true);
        found = find(target);
        exclude(worst, false);
        include(worst, 1);
        tried.add(worst);
        if (!found && symmetric) {
            // Without this node there is nothing, so there is nothing without its twins either.
            if (twins_.empty()) {
                find_twins();
            }
            for (const int node : level_.nodes) {
                if (twins_[node] == twins_[worst] && untouched(node)) {
                    include(node, 1);
                    tried.add(node);
                }
            }
        }
    }
    for (const int node : tried) {
        include(node, -1);
    }
    return found;
}

bool Search::only_included_nodes() {
    std::vector<int> others;
    for (const int node : level_.nodes) {
        if (included_[node] == 0) {
            exclude(node, true);
            others.push_back(node);
        }
    }
    if (solve()) {
        return true;
    }
    for (const int node : others) {
        exclude(node, false);
    }
    return false;
}

// Above `kExactNodes` nodes: start from the node of the smallest usable OS index and add the
// nearest node that some acceptable set can use together with those before, until a set fits.
// Leaves all other nodes excluded.
void Search::choose_nodes_greedily() {
    const int nodes = static_cast<int>(level_.nodes.size());
    std::vector<int64_t> cost(nodes, 0);  // to the nodes included; in order of smallest OS index
    // What fails beside some nodes fails beside more of them.
    std::vector<uint8_t> failed(nodes, 0);
    std::vector<int> committed;
    int included = 0;
    while (included < nodes && (included < min_nodes_ || !only_included_nodes())) {
        int added = -1;
        while (added < 0) {
            int nearest = -1;
            for (int i = 0; i < nodes; ++i) {
                if (included_[level_.nodes[i]] == 0 && !failed[i] &&
                    (nearest < 0 || cost[i] < cost[nearest])) {
                    nearest = i;
                }
            }
            if (nearest < 0) {
                break;
            }
            failed[nearest] = 1;
            for (const int c : cells_of_node_[level_.nodes[nearest]]) {
                const bool known = held_[c] > 0;  // by the witness of the last success
                take(c, 1);
                if (known || solve()) {
                    committed.push_back(c);
                    added = nearest;
                    break;
                }
                take(c, -1);
            }
        }
        if (added < 0) {
            break;  // every acceptable set uses what is included and no more
        }
        ++included;
        for (int i = 0; i < nodes; ++i) {
            cost[i] += machine_.distance(level_.nodes[i], level_.nodes[added]);
        }
    }
    for (const int c : committed) {
        take(c, -1);
        include(level_.cells[c].node, 1);
    }
}

}  // namespace autofinity::affinity
