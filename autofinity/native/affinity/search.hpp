// From "which core sets are acceptable" to one core set: the nodes nearest to each other, then the
// smallest sorted list of OS indices.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "affinity/problem.hpp"

namespace autofinity::affinity {

class Search {
  public:
    // Up to this many nodes the distance is minimised exactly, above it greedily.
    static constexpr int kExactNodes = 16;

    Search(const Machine& machine, const Level& level, Problem& problem);

    // Logical indices of the PUs chosen on the level, ascending OS index; empty when there is no
    // acceptable set.
    std::vector<int> run();

  private:
    // A few nodes without allocation.
    struct Nodes {
        std::array<int, kExactNodes> at;
        int count = 0;

        void add(int node) { at[count++] = node; }
        const int* begin() const { return at.data(); }
        const int* end() const { return at.data() + count; }
    };

    static constexpr int64_t kAny = std::numeric_limits<int64_t>::max();

    bool solve();
    bool find(int64_t target);
    void spread_over_cells();
    void exclude(int node, bool on);
    void include(int node, int by);
    void take(int cell, int by);
    int64_t used_distance(Nodes* used) const;
    int64_t lower_bound() const;
    void choose_nodes_greedily();
    bool only_included_nodes();
    void find_twins();
    bool untouched(int node) const;
    std::vector<int> smallest_list(bool by_distance, int64_t target);

    const Machine& machine_;
    const Level& level_;
    Problem& problem_;
    Bounds bounds_;
    std::vector<int> taken_;          // by cell: slots decided for
    std::vector<uint8_t> closed_;     // by cell: no further slot
    std::vector<int> held_;           // by cell: the witness
    std::vector<int> domain_held_;    // by domain: the witness
    std::vector<uint8_t> preferred_;  // by domain
    std::vector<uint8_t> dirty_;      // by socket: bounds changed since the last refresh
    std::vector<int> included_;       // by machine node: reasons for which it is used anyway
    std::vector<uint8_t> excluded_;   // by machine node
    std::vector<std::vector<int>> cells_of_node_;
    std::vector<int> twins_;  // by machine node: the same number for interchangeable nodes
    int min_nodes_ = 1;
};

}  // namespace autofinity::affinity
