#include "affinity/problem.hpp"

#include <algorithm>
#include <utility>

namespace autofinity::affinity {

bool nodes_span_sockets(const Level& level) {
    std::vector<std::pair<int, int>> seen;
    for (const Cell& cell : level.cells) {
        seen.emplace_back(cell.node, level.domains[cell.domain].socket);
    }
    std::sort(seen.begin(), seen.end());
    for (size_t i = 1; i < seen.size(); ++i) {
        if (seen[i].first == seen[i - 1].first && seen[i].second != seen[i - 1].second) {
            return true;
        }
    }
    return false;
}

int nodes_needed(const Level& level, int socket, int used, int threads) {
    // A node can serve at most its domains and its slots; take the largest of each.
    std::vector<std::pair<int, std::pair<int, int>>> nodes;  // node, (domains, slots)
    for (const int d : level.sockets[socket].domains) {
        for (const int c : level.domains[d].cells) {
            const int node = level.cells[c].node;
            auto at = std::find_if(nodes.begin(), nodes.end(),
                                   [&](const auto& entry) { return entry.first == node; });
            if (at == nodes.end()) {
                nodes.push_back({node, {0, 0}});
                at = nodes.end() - 1;
            }
            at->second.first += 1;
            at->second.second += level.cells[c].capacity;
        }
    }
    const auto fewest = [&](auto size, int wanted) {
        std::vector<int> sizes;
        for (const auto& entry : nodes) {
            sizes.push_back(size(entry.second));
        }
        std::sort(sizes.rbegin(), sizes.rend());
        int count = 0;
        for (const int each : sizes) {
            if (wanted <= 0) {
                break;
            }
            wanted -= each;
            ++count;
        }
        return count;
    };
    return std::max(fewest([](const auto& n) { return n.first; }, used),
                    fewest([](const auto& n) { return n.second; }, threads));
}

}  // namespace autofinity::affinity
