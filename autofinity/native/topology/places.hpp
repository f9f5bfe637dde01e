// Places, a node's part of a socket each, and how far they are from each other.
//
// Distances between PUs grow with the level of the smallest part that two of them share. Their unit
// is SLIT's, where 10 is an access that stays in the node; below that, they are of the order of
// core-to-core latencies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topology/pu.hpp"

namespace autofinity::topology {

inline constexpr double same_core = 1;
inline constexpr double same_l2 = 2;
inline constexpr double same_llc = 4;
inline constexpr double same_node = 10;
inline constexpr double other_socket_of_node = 20;  // what most SLITs say of a second socket
inline constexpr double nearest_node = 11;          // a SLIT of 10 for another node says nothing

class Places {
  public:
    // `slit` row by row, `nodes` × `nodes`.
    Places(std::span<const Pu> pus, std::span<const std::int64_t> slit, std::uint32_t nodes);

    // Of a PU by logical index.
    int of(int pu) const { return of_pu_[pu]; }
    double between(int a, int b) const {
        return between_[static_cast<std::size_t>(a) * count_ + b];
    }

  private:
    int count_ = 0;
    std::vector<int> of_pu_;
    std::vector<double> between_;
};

}  // namespace autofinity::topology
