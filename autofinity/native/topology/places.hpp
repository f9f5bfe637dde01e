// Places (a place is a node's part of a socket), and the distances between them.
//
// Distances between PUs grow with the level of the smallest part that two of them share. Their unit
// is SLIT's, where 10 is an access that stays in the node; smaller values are of the order of
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
inline constexpr double other_socket_of_node = 20;  // the value of most SLITs for a second socket
inline constexpr double nearest_node = 11;          // a SLIT of 10 here has no information

class Places {
  public:
    // `slit` row by row, `nodes` × `nodes`.
    Places(std::span<const Pu> pus, std::span<const std::int64_t> slit, std::uint32_t nodes);

    // Place of a PU by logical index.
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
