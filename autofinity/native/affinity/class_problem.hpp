// All core sets of one given affinity: its sockets are matched to the machine's, and the counts of
// a socket to its domains.
#pragma once

#include <cstdint>
#include <vector>

#include "affinity/problem.hpp"

namespace autofinity::affinity {

class ClassProblem final : public Problem {
  public:
    // `occupancy`: counts of each used socket, lower SMT levels included. With counts or sockets
    // that the level has no room for, `feasible()` is false.
    ClassProblem(const Level& level, std::vector<std::vector<int>> occupancy);

    void refresh(int socket, const Bounds& bounds) override;
    bool feasible() override;
    void witness(const Bounds& bounds, const std::vector<uint8_t>& preferred,
                 std::vector<int>& threads) override;
    int min_nodes() const override;

  private:
    bool assign(int socket, const std::vector<int>& counts, const Bounds& bounds,
                std::vector<int>* threads) const;
    bool augment(int socket, std::vector<uint8_t>& seen);

    const Level& level_;
    bool fits_machine_ = true;
    std::vector<std::vector<int>> patterns_;  // one a socket of the level, empty ones included
    std::vector<int> kind_;                   // first pattern equal to this one
    std::vector<std::vector<uint8_t>> compatible_;  // [socket][kind]
    std::vector<int> pattern_of_;                   // by socket
    std::vector<int> socket_of_;                    // by pattern
};

}  // namespace autofinity::affinity
