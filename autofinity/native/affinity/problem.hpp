// Interface of a set of acceptable core sets for the search: is there one within these bounds?
#pragma once

#include <cstdint>
#include <vector>

#include "affinity/level.hpp"

namespace autofinity::affinity {

// Threads of the level that each domain must hold at least and may hold at most.
struct Bounds {
    std::vector<int> lo;
    std::vector<int> hi;
};

class Problem {
  public:
    virtual ~Problem() = default;
    // The bounds of this socket's domains have changed.
    virtual void refresh(int socket, const Bounds& bounds) = 0;
    // Whether an acceptable set lies within the bounds last refreshed.
    virtual bool feasible() = 0;
    // After `feasible()` was true: one such set, as threads for each domain. Domains with
    // `preferred` set are used first where there is a choice, then those of smaller index.
    virtual void witness(const Bounds& bounds, const std::vector<uint8_t>& preferred,
                         std::vector<int>& threads) = 0;
    // A lower bound of the number of NUMA nodes that any acceptable set uses (without bounds).
    virtual int min_nodes() const = 0;
};

// Smallest number of nodes of one socket that can hold `threads` threads on `used` domains. Only
// valid where no node spans sockets.
int nodes_needed(const Level& level, int socket, int used, int threads);

// Whether some node has slots on two sockets.
bool nodes_span_sockets(const Level& level);

}  // namespace autofinity::affinity
