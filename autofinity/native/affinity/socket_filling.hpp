// How a socket is filled with the best Σc² for its number of threads, in closed form, and within
// bounds.
#pragma once

#include <cstdint>
#include <vector>

#include "affinity/level.hpp"
#include "affinity/problem.hpp"

namespace autofinity::affinity {

// Shape of the Σc²-best filling of a socket with some number of threads.
//   spread:      domains of capacity ≤ level are full, the others hold level or level + 1,
//                `extra` of them the latter;
//   concentrate: domains of capacity > level are full, `full` of those of capacity `level`
//                are, one other (that can) holds `extra`, the rest nothing.
struct Shape {
    int level;
    int extra;
    int full;
};

class SocketFilling {
  public:
    // `spread`: over the domains of a socket, or concentrated on few.
    SocketFilling(const Level& level, bool spread);

    // Capacities of the domains of a socket, descending.
    const std::vector<int>& capacities(int socket) const { return capacities_[socket]; }
    Shape shape(int socket, int threads) const;
    // Σc² of the filling.
    int64_t squares(int socket, int threads) const;
    // Number of domains that hold threads.
    int domains_used(int socket, int threads) const;
    // Whether some filling of the shape is within the bounds.
    bool fits(int socket, const Shape& best, const Bounds& bounds) const;
    // Makes such a filling, in `threads` of each domain; `preferred` domains first where there is a
    // choice.
    void fill(int socket, const Shape& best, const Bounds& bounds,
              const std::vector<uint8_t>& preferred, std::vector<int>& threads);

  private:
    bool fits_concentrated(int socket, const Shape& best, const Bounds& bounds) const;
    void fill_concentrated(int socket, const Shape& best, const Bounds& bounds,
                           std::vector<int>& threads);

    const Level& level_;
    bool spread_;
    std::vector<std::vector<int>> capacities_;
    std::vector<int> order_;     // scratch of `fill`
    std::vector<uint8_t> full_;  // scratch of `fill_concentrated`
};

}  // namespace autofinity::affinity
