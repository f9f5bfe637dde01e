#include "affinity/edit_distance.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace autofinity::affinity {

namespace {

// Smallest total of a square assignment (Hungarian method with potentials, O(n³)).
int cheapest_assignment(const std::vector<std::vector<int>>& cost) {
    const int n = static_cast<int>(cost.size());
    std::vector<int> row_potential(n + 1, 0);
    std::vector<int> column_potential(n + 1, 0);
    std::vector<int> row_of(n + 1, 0);  // column → row, both from 1; 0 is free
    std::vector<int> came_from(n + 1, 0);
    for (int row = 1; row <= n; ++row) {
        std::vector<int> slack(n + 1, std::numeric_limits<int>::max());
        std::vector<char> done(n + 1, 0);
        int column = 0;
        row_of[0] = row;
        do {
            done[column] = 1;
            const int at = row_of[column];
            int least = std::numeric_limits<int>::max();
            int next = 0;
            for (int j = 1; j <= n; ++j) {
                if (done[j]) {
                    continue;
                }
                const int reduced = cost[at - 1][j - 1] - row_potential[at] - column_potential[j];
                if (reduced < slack[j]) {
                    slack[j] = reduced;
                    came_from[j] = column;
                }
                if (slack[j] < least) {
                    least = slack[j];
                    next = j;
                }
            }
            for (int j = 0; j <= n; ++j) {
                if (done[j]) {
                    row_potential[row_of[j]] += least;
                    column_potential[j] -= least;
                } else {
                    slack[j] -= least;
                }
            }
            column = next;
        } while (row_of[column] != 0);
        while (column != 0) {
            row_of[column] = row_of[came_from[column]];
            column = came_from[column];
        }
    }
    int total = 0;
    for (int j = 1; j <= n; ++j) {
        total += cost[row_of[j] - 1][j - 1];
    }
    return total;
}

}  // namespace

int edit_distance(const Occupancy& a, const Occupancy& b) {
    const size_t sockets = std::max(a.size(), b.size());
    int threads = 0;
    for (const auto& socket : a) {
        threads = std::accumulate(socket.begin(), socket.end(), threads);
    }
    // Threads that stay when socket i of `a` becomes socket j of `b`: Σ min over domains, which is
    // largest when both are paired in descending order.
    std::vector<std::vector<int>> cost(sockets, std::vector<int>(sockets, 0));
    for (size_t i = 0; i < a.size(); ++i) {
        for (size_t j = 0; j < b.size(); ++j) {
            for (size_t d = 0; d < std::min(a[i].size(), b[j].size()); ++d) {
                cost[i][j] -= std::min(a[i][d], b[j][d]);
            }
        }
    }
    return threads + (sockets > 0 ? cheapest_assignment(cost) : 0);
}

}  // namespace autofinity::affinity
