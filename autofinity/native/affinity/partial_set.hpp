// A core set during the search: taken slots, closed cells, included and excluded nodes, and one way
// to complete it, if there is one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "affinity/level.hpp"
#include "affinity/problem.hpp"

namespace autofinity::affinity {

class PartialSet {
  public:
    // `nodes` of the machine.
    PartialSet(const Level& level, Problem& problem, std::size_t nodes);

    const Level& level() const { return level_; }
    int min_nodes() const { return problem_.min_nodes(); }
    // Cells of a machine node.
    const std::vector<int>& cells_of(int node) const { return cells_of_node_[node]; }

    // Looks for a witness: an acceptable set that agrees with the decisions so far.
    bool solve();
    // The witness: slots of each cell.
    const std::vector<int>& held() const { return held_; }
    void set_held(const std::vector<int>& held) { held_ = held; }
    bool uses(int node) const;

    // Takes `by` more slots of a cell.
    void take(int cell, int by);
    int taken(int cell) const { return taken_[cell]; }
    // Allows no further slot of the cell.
    void close(int cell);
    bool open(int cell) const { return !closed_[cell] && !excluded_[level_.cells[cell].node]; }
    // Allows no further slot of the node, or allows them again.
    void exclude(int node, bool on);
    bool excluded(int node) const { return excluded_[node] != 0; }
    // Adds `by` reasons for which the node is used anyway.
    void include(int node, int by) { included_[node] += by; }
    bool included(int node) const { return included_[node] > 0; }
    // Whether nothing has been decided about the node.
    bool untouched(int node) const;

  private:
    void spread_over_cells();

    const Level& level_;
    Problem& problem_;
    Bounds bounds_;
    std::vector<int> taken_;          // by cell
    std::vector<uint8_t> closed_;     // by cell
    std::vector<int> held_;           // by cell: the witness
    std::vector<int> domain_held_;    // by domain: the witness
    std::vector<uint8_t> preferred_;  // by domain
    std::vector<uint8_t> dirty_;      // by socket: bounds changed since the last refresh
    std::vector<int> included_;       // by machine node: reasons
    std::vector<uint8_t> excluded_;   // by machine node
    std::vector<std::vector<int>> cells_of_node_;
};

}  // namespace autofinity::affinity
