// Nodes that a core set uses: the nearest to each other, exactly for few nodes and greedily for
// many.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "affinity/partial_set.hpp"
#include "topology/machine.hpp"

namespace autofinity::affinity {

class NearNodes {
  public:
    // Up to this many nodes the distance is minimised exactly, above it greedily.
    static constexpr int kExactNodes = 16;

    NearNodes(const topology::Machine& machine, PartialSet& set);

    // Sum of distances between the nodes of the witness, each pair there and back.
    int64_t used_distance() const;
    // Finds a witness whose nodes are no further apart than `target`.
    bool find(int64_t target);
    // For more than `kExactNodes`: chooses the nodes, and excludes all others.
    void choose_greedily();

  private:
    // A small set of nodes without allocation.
    struct Nodes {
        std::array<int, kExactNodes> at;
        int count = 0;

        void add(int node) { at[count++] = node; }
        const int* begin() const { return at.data(); }
        const int* end() const { return at.data() + count; }
    };

    int64_t used_distance(Nodes& used) const;
    int64_t lower_bound() const;
    int farthest_undecided(const Nodes& used) const;
    bool only_included();
    void find_twins();
    bool exchangeable(int a, int b) const;

    const topology::Machine& machine_;
    PartialSet& set_;
    int min_nodes_;
    std::vector<int> twins_;  // by machine node: the same number for interchangeable nodes
};

}  // namespace autofinity::affinity
