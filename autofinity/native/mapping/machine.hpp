// The machine as a mapper sees it: the parts each PU lies in, and how far PUs are from each other.
//
// Distances grow with the level of the smallest part that two PUs share. Their unit is SLIT's,
// where 10 is an access that stays in the node; below that, they are of the order of core-to-core
// latencies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace autofinity::mapping {

struct Pu {
    int64_t os;
    int core;
    int l2;
    int llc;
    int node;
    int package;
};

constexpr double same_core = 1;
constexpr double same_l2 = 2;
constexpr double same_llc = 4;
constexpr double same_node = 10;
constexpr double other_package_of_node = 20;  // what most SLITs say of a second socket
constexpr double nearest_node = 11;           // a SLIT of 10 for another node says nothing

// Levels of the machine below its root: package, node and LLC (the larger of them first), L2, core,
// PU.
constexpr int levels = 6;

class Machine {
  public:
    // `pus` in logical order; an LLC is of one package. `slit` row by row, `nodes` × `nodes`.
    Machine(std::vector<Pu> pus, const std::vector<double>& slit, int nodes);

    const std::vector<Pu>& pus() const { return pus_; }
    // Logical index of an OS index; -1 where there is no such PU.
    int find(int64_t os) const;
    // A place is a node's part of a package.
    int places() const { return places_; }
    int place(int pu) const { return place_[pu]; }
    double between_places(int a, int b) const {
        return between_places_[static_cast<size_t>(a) * places_ + b];
    }
    double distance(int a, int b) const {
        const Pu& p = pus_[a];
        const Pu& q = pus_[b];
        if (p.llc != q.llc) {
            return between_places(place_[a], place_[b]);
        }
        if (p.l2 != q.l2) {
            return same_llc;
        }
        if (p.core != q.core) {
            return same_l2;
        }
        return a == b ? 0 : same_core;
    }
    // The part of each level that a PU lies in, outermost first.
    std::array<int, levels> path(int pu) const;

  private:
    std::vector<Pu> pus_;
    std::unordered_map<int64_t, int> of_os_;
    std::vector<int> place_;
    std::vector<double> between_places_;
    int places_ = 0;
    bool node_in_llc_ = false;
};

}  // namespace autofinity::mapping
