// Input of GETAFFINITY: one level of the available PUs of a machine.
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
    int base;    // threads already on lower levels
    int capacity = 0;
    std::vector<int> cells;
};

struct Socket {
    std::vector<int> domains;
    int capacity = 0;
};

// One level of PUs. The first level is the first available PU of each core, the second level the
// second PU, and so on; all PUs of lower levels are taken before a higher one is used. Where kinds
// of cores count, each of these is a level for each kind, the fastest first. Sockets, domains and
// cells are numbered by their first slot, so that going through them in order meets a nearly
// smallest list of slots first.
struct Level {
    int threads = 0;          // to place on this level
    std::vector<int> below;   // PUs of lower levels, all taken
    std::vector<Slot> slots;  // as Machine::by_kind has them, or core by core
    std::vector<Cell> cells;
    std::vector<Domain> domains;
    std::vector<Socket> sockets;
    std::vector<int> nodes;  // machine nodes with slots on this level
    int usable = 0;          // PUs available on all levels
};

enum class Kinds { alike, fastest_first };
// Use of the other PUs of a core with more threads than cores, or as many threads as the whole
// machine has cores: they are taken when all cores have a thread, or together with the first, so
// that caches stay empty.
enum class Siblings { last, together };

// The level on which the last of `threads` falls. `available[pu]` by logical index. When there are
// fewer PUs than threads, only `usable` is set. Siblings are taken together only where all cores
// are of one kind: then all PUs are one level, in which those of a core follow each other.
Level make_level(const topology::Machine& machine, const std::vector<uint8_t>& available,
                 int threads, Kinds kinds, Siblings siblings);

}  // namespace autofinity::affinity
