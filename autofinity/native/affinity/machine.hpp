// The machine as GETAFFINITY sees it, and one SMT level of what is available on it.
//
//   socket ── domain (last-level cache) ── cell (part of a domain on one NUMA node) ── slot (PU)
//
// Slots of one cell differ only in their OS index, so a core set is a count for each cell: the
// smallest OS indices of the cell are always the best ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace autofinity::affinity {

struct Pu {
    int64_t os;
    int core;
    int domain;
    int socket;
    int node;
    int smt_rank;
};

class Machine {
  public:
    // `pus` in logical order, domains numbered socket by socket. `distances` is the SLIT, row by
    // row, `nodes` × `nodes`.
    Machine(std::vector<Pu> pus, std::vector<int64_t> distances, int nodes);

    const std::vector<Pu>& pus() const { return pus_; }
    // Logical PU indices in ascending order of OS index.
    const std::vector<int>& by_os() const { return by_os_; }
    // Logical PU indices, core by core, SMT ranks ascending.
    const std::vector<int>& by_core() const { return by_core_; }
    const std::vector<int>& socket_of_domain() const { return socket_of_domain_; }
    int sockets() const { return sockets_; }
    int nodes() const { return nodes_; }
    // Distance there and back: a SLIT need not be symmetric.
    int64_t distance(int a, int b) const {
        return distances_[static_cast<size_t>(a) * nodes_ + b] +
               distances_[static_cast<size_t>(b) * nodes_ + a];
    }
    // Nodes with the same number can be exchanged without changing any distance.
    const std::vector<int>& twins() const { return twins_; }
    // Logical index of an OS index; -1 where there is no such PU.
    int find(int64_t os) const;

  private:
    std::vector<Pu> pus_;
    std::vector<int64_t> distances_;
    std::vector<int> by_os_;
    std::vector<int> by_core_;
    std::vector<int> socket_of_domain_;
    std::vector<int> twins_;
    std::unordered_map<int64_t, int> of_os_;
    int sockets_ = 0;
    int nodes_;
};

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
Level make_level(const Machine& machine, const std::vector<uint8_t>& available, int threads);

}  // namespace autofinity::affinity
