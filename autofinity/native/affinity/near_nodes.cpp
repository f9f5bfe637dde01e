#include "affinity/near_nodes.hpp"

#include <algorithm>

namespace autofinity::affinity {

NearNodes::NearNodes(const topology::Machine& machine, PartialSet& set)
    : machine_(machine), set_(set), min_nodes_(set.min_nodes()) {}

int64_t NearNodes::used_distance() const {
    Nodes used;
    return used_distance(used);
}

int64_t NearNodes::used_distance(Nodes& used) const {
    int64_t sum = 0;
    for (const int node : set_.level().nodes) {
        if (!set_.uses(node)) {
            continue;
        }
        for (const int other : used) {
            sum += machine_.round_trip(node, other);
        }
        used.add(node);
    }
    return sum;
}

// No acceptable set that uses all included and no excluded nodes is nearer than this.
int64_t NearNodes::lower_bound() const {
    Nodes in;
    Nodes out;
    for (const int node : set_.level().nodes) {
        if (set_.included(node)) {
            in.add(node);
        } else if (!set_.excluded(node)) {
            out.add(node);
        }
    }
    int64_t sum = 0;
    for (int a = 0; a < in.count; ++a) {
        for (int b = a + 1; b < in.count; ++b) {
            sum += machine_.round_trip(in.at[a], in.at[b]);
        }
    }
    const int more = min_nodes_ - in.count;
    if (more <= 0 || more > out.count) {
        return sum;
    }
    // Each further node adds its distance to all included ones and, at best, to its nearest others;
    // the latter are counted from both ends, so everything is doubled here.
    std::array<int64_t, kExactNodes> costs;
    std::array<int64_t, kExactNodes> near;
    for (int i = 0; i < out.count; ++i) {
        costs[i] = 0;
        for (const int node : in) {
            costs[i] += 2 * machine_.round_trip(out.at[i], node);
        }
        int others = 0;
        for (int j = 0; j < out.count; ++j) {
            if (j != i) {
                near[others++] = machine_.round_trip(out.at[i], out.at[j]);
            }
        }
        std::sort(near.begin(), near.begin() + others);
        for (int j = 0; j < more - 1; ++j) {
            costs[i] += near[j];
        }
    }
    std::sort(costs.begin(), costs.begin() + out.count);
    int64_t doubled = 0;
    for (int i = 0; i < more; ++i) {
        doubled += costs[i];
    }
    return sum + (doubled + 1) / 2;
}

// Whether exchanging two nodes changes no distance.
bool NearNodes::exchangeable(int a, int b) const {
    for (int other = 0; other < static_cast<int>(machine_.nodes()); ++other) {
        if (other != a && other != b &&
            machine_.round_trip(a, other) != machine_.round_trip(b, other)) {
            return false;
        }
    }
    return true;
}

// Nodes are twins when exchanging them changes nothing: the same sizes of domains of their own on
// the same socket, and the same distances to all other nodes.
void NearNodes::find_twins() {
    using NodeShape = std::vector<std::array<int, 3>>;
    const Level& level = set_.level();
    std::vector<NodeShape> shapes(machine_.nodes());
    for (const int node : level.nodes) {
        NodeShape& shape = shapes[node];
        for (const int c : set_.cells_of(node)) {
            const Domain& domain = level.domains[level.cells[c].domain];
            if (domain.cells.size() > 1) {
                shape.assign(1, {-1, node, 0});  // a domain shared with other nodes: like no other
                break;
            }
            shape.push_back({domain.socket, domain.base, domain.capacity});
        }
        std::sort(shape.begin(), shape.end());
    }
    twins_.assign(machine_.nodes(), -1);
    for (const int a : level.nodes) {
        for (const int b : level.nodes) {
            if (a == b || (twins_[b] == b && shapes[a] == shapes[b] && exchangeable(a, b))) {
                twins_[a] = b;
                break;
            }
        }
    }
}

// The used node that is farthest from the others, among those not yet known to be needed; -1 where
// there is none.
int NearNodes::farthest_undecided(const Nodes& used) const {
    int farthest = -1;
    int64_t most = -1;
    for (const int node : used) {
        if (set_.included(node)) {
            continue;
        }
        int64_t cost = 0;
        for (const int other : used) {
            cost += other == node ? 0 : machine_.round_trip(node, other);
        }
        if (cost > most) {
            most = cost;
            farthest = node;
        }
    }
    return farthest;
}

// Branch and bound, on a node that the present witness uses and that may not be needed.
bool NearNodes::find(int64_t target) {
    if (!set_.solve()) {
        return false;
    }
    Nodes used;
    if (used_distance(used) <= target) {
        return true;
    }
    Nodes tried;
    bool found = false;
    while (!found && lower_bound() <= target) {
        const int worst = farthest_undecided(used);
        if (worst < 0) {
            break;
        }
        const bool symmetric = set_.untouched(worst);
        set_.exclude(worst, true);
        found = find(target);
        set_.exclude(worst, false);
        set_.include(worst, 1);
        tried.add(worst);
        if (!found && symmetric) {
            // Without this node there is no set, so there is none without its twins either.
            if (twins_.empty()) {
                find_twins();
            }
            for (const int node : set_.level().nodes) {
                if (twins_[node] == twins_[worst] && set_.untouched(node)) {
                    set_.include(node, 1);
                    tried.add(node);
                }
            }
        }
    }
    for (const int node : tried) {
        set_.include(node, -1);
    }
    return found;
}

bool NearNodes::only_included() {
    std::vector<int> others;
    for (const int node : set_.level().nodes) {
        if (!set_.included(node)) {
            set_.exclude(node, true);
            others.push_back(node);
        }
    }
    if (set_.solve()) {
        return true;
    }
    for (const int node : others) {
        set_.exclude(node, false);
    }
    return false;
}

// Starts from the nodes that are used anyway, else from the node of the smallest usable OS index,
// and adds the nearest node that some acceptable set can use together with those before, until a
// set fits.
void NearNodes::choose_greedily() {
    const Level& level = set_.level();
    const int nodes = static_cast<int>(level.nodes.size());
    std::vector<int64_t> cost(nodes, 0);  // to the nodes included; in order of smallest OS index
    // A node that fails together with some nodes fails together with more of them.
    std::vector<uint8_t> failed(nodes, 0);
    std::vector<int> committed;
    int included = 0;
    for (const int node : level.nodes) {
        if (!set_.included(node)) {
            continue;
        }
        ++included;
        for (int i = 0; i < nodes; ++i) {
            cost[i] += machine_.round_trip(level.nodes[i], node);
        }
    }
    while (included < nodes && (included < min_nodes_ || !only_included())) {
        int added = -1;
        while (added < 0) {
            int nearest = -1;
            for (int i = 0; i < nodes; ++i) {
                if (!set_.included(level.nodes[i]) && !failed[i] &&
                    (nearest < 0 || cost[i] < cost[nearest])) {
                    nearest = i;
                }
            }
            if (nearest < 0) {
                break;
            }
            failed[nearest] = 1;
            for (const int c : set_.cells_of(level.nodes[nearest])) {
                const bool known = set_.held()[c] > 0;  // by the witness of the last success
                set_.take(c, 1);
                if (known || set_.solve()) {
                    committed.push_back(c);
                    added = nearest;
                    break;
                }
                set_.take(c, -1);
            }
        }
        if (added < 0) {
            break;  // every acceptable set uses the included nodes and no more
        }
        ++included;
        for (int i = 0; i < nodes; ++i) {
            cost[i] += machine_.round_trip(level.nodes[i], level.nodes[added]);
        }
    }
    for (const int c : committed) {
        set_.take(c, -1);
        set_.include(level.cells[c].node, 1);
    }
}

}  // namespace autofinity::affinity
