// What GETAFFINITY sees: one SMT level of what is available on a machine.
//
//   socket ── domain (LLC) ── cell (part of a domain on one NUMA node) ── slot (PU)
//
// Slots of one cell differ only in their OS index, so a core set is a count for each cell: the
// smallest OS indices of the cell are always the best ones.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/machine.hpp"

namespace autofinity::affinity {

struct Slot {
    int pu;
    int cell;
};

struct Cell {
    int domain;
    int node;
    int capacity = 0;
};

struct Domain {
    int id;      // in the machine
    int socket;  // in the level
    int base;    // threads already on lower SMT levels
    int capacity = 0;
    std::vector<int> cells;
};

struct Socket {
    std::vector<int> domains;
    int capacity = 0;
};

// What one SMT level offers. The first level is the first available PU of each core, the second
// the second, and so on; all PUs of lower levels are taken before a higher one is used.
// Sockets, domains and cells are numbered by their smallest OS index, so that going through them in
// order meets a nearly smallest list of OS indices first.
struct Level {
    int threads = 0;          // to place on this level
    std::vector<int> below;   // PUs of lower levels, all taken
    std::vector<Slot> slots;  // ascending OS index
    std::vector<Cell> cells;
    std::vector<Domain> domains;
    std::vector<Socket> sockets;
    std::vector<int> nodes;  // machine nodes with slots on this level
    int usable = 0;          // PUs available on all levels
};

// The level on which the last of `threads` falls. `available[pu]` by logical index. When there are
// fewer PUs than threads, only `usable` is set.
Level make_level(const topology::Machine& machine, const std::vector<uint8_t>& available,
                 int threads);

}  // namespace autofinity::affinity
