// The cells of a periodic box and the particles in them.
#ifndef FLUID_GRID_H
#define FLUID_GRID_H

#include <pthread.h>

#include <array>
#include <cstdint>
#include <new>

#include "training_args.h"

namespace fluid {

constexpr int kCellRoom = 12;

struct Vec {
    float x, y, z;
};

// Positions are relative to the cell's corner, in units of its edge: [0, 1). Distances to
// particles of a neighbour cell need the neighbour's offset and no wrapping.
struct Particle {
    Vec position, velocity, force;
    float density;
};

struct alignas(64) Cell {
    int count;
    Particle particle[kCellRoom];
};

// The offsets of the 13 neighbours that come after a cell: each pair of cells is visited once.
struct Neighbour {
    int x, y, z;
};
constexpr std::array<Neighbour, 13> kHalf = {{{1, 0, 0},
                                              {-1, 1, 0},
                                              {0, 1, 0},
                                              {1, 1, 0},
                                              {-1, -1, 1},
                                              {0, -1, 1},
                                              {1, -1, 1},
                                              {-1, 0, 1},
                                              {0, 0, 1},
                                              {1, 0, 1},
                                              {-1, 1, 1},
                                              {0, 1, 1},
                                              {1, 1, 1}}};

// Cells of a box of `edge` x `edge` x `depth`; consecutive numbers share a layer. Their memory is
// untouched: the threads that own them set their counts first.
class Grid {
  public:
    Grid(int edge, int depth)
        : edge_(edge),
          depth_(depth),
          cell_(static_cast<Cell*>(pages_for(sizeof(Cell) * static_cast<size_t>(cells())))) {}

    int cells() const { return edge_ * edge_ * depth_; }
    int edge() const { return edge_; }
    int depth() const { return depth_; }
    Cell& operator[](int cell) { return cell_[cell]; }
    const Cell& operator[](int cell) const { return cell_[cell]; }

    // The cell at the given offset (-1, 0 or 1 in each direction) from another, around the box.
    int at_offset(int cell, int dx, int dy, int dz) const {
        const int x = wrap(cell % edge_ + dx, edge_);
        const int y = wrap(cell / edge_ % edge_ + dy, edge_);
        const int z = wrap(cell / (edge_ * edge_) + dz, depth_);
        return (z * edge_ + y) * edge_ + x;
    }

  private:
    static int wrap(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }

    int edge_, depth_;
    Cell* cell_;
};

}  // namespace fluid

#endif
