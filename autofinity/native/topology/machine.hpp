// The machine: the parts that each PU lies in, and the distances between PUs and between nodes.
//
//   socket ── NUMA node ── LLC domain ── L2 ── core ── PU       (or the node within the LLC domain)
//
// All numbers are logical and dense, except the kernel's numbers of PUs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "topology/places.hpp"
#include "topology/pu.hpp"

namespace autofinity::topology {

// Levels of the machine below its root: socket, node and LLC domain (the larger of them first), L2,
// core, PU.
inline constexpr int levels = 6;

class Machine {
  public:
    // `pus` in logical order. `slit` row by row, `nodes` × `nodes`. `allowed`: OS indices of PUs
    // that a placement may use; indices of unknown PUs are ignored. Throws std::invalid_argument.
    Machine(std::vector<Pu> pus, std::vector<std::int64_t> slit, int nodes,
            const std::vector<std::int64_t>& allowed);

    const std::vector<Pu>& pus() const { return pus_; }
    // Logical PU indices, faster kinds of cores first, each in ascending order of OS index.
    const std::vector<int>& by_kind() const { return by_kind_; }
    // Logical PU indices, core by core, SMT ranks ascending.
    const std::vector<int>& by_core() const { return by_core_; }
    // Logical index of an OS index; -1 where there is no such PU.
    int find(std::int64_t os) const;
    // By logical index: whether a placement may use the PU.
    const std::vector<std::uint8_t>& allowed() const { return allowed_; }

    std::uint32_t sockets() const { return sockets_; }
    std::uint32_t nodes() const { return nodes_; }
    std::uint32_t cores() const { return static_cast<std::uint32_t>(llc_of_core_.size()); }
    std::uint32_t llcs() const { return static_cast<std::uint32_t>(socket_of_llc_.size()); }
    const std::vector<int>& socket_of_llc() const { return socket_of_llc_; }

    // Core of each PU; flat, since the simulator looks it up at every step.
    const std::vector<std::uint32_t>& core_of_pu() const { return core_of_pu_; }
    const std::vector<std::uint32_t>& l2_of_core() const { return l2_of_core_; }
    const std::vector<std::uint32_t>& llc_of_core() const { return llc_of_core_; }
    const std::vector<std::uint32_t>& node_of_core() const { return node_of_core_; }

    const std::vector<std::int64_t>& slit() const { return slit_; }
    // Distance in both directions: a SLIT need not be symmetric.
    std::int64_t round_trip(int node, int other) const {
        return slit_[static_cast<std::size_t>(node) * nodes_ + other] +
               slit_[static_cast<std::size_t>(other) * nodes_ + node];
    }

    const Places& places() const { return places_; }
    // Distance of two PUs by logical index, in SLIT's unit; see `Places` for the scale.
    double distance(int a, int b) const {
        const Pu& p = pus_[a];
        const Pu& q = pus_[b];
        if (p.llc != q.llc) {
            return places_.between(places_.of(a), places_.of(b));
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
    void order_pus();
    void number_parts();

    std::uint32_t nodes_;
    std::vector<std::int64_t> slit_;
    std::vector<Pu> pus_;
    Places places_;
    std::uint32_t sockets_ = 0;
    bool node_in_llc_ = false;
    std::vector<int> by_kind_;
    std::vector<int> by_core_;
    std::unordered_map<std::int64_t, int> of_os_;
    std::vector<std::uint8_t> allowed_;
    std::vector<int> socket_of_llc_;
    std::vector<std::uint32_t> core_of_pu_;
    std::vector<std::uint32_t> l2_of_core_;
    std::vector<std::uint32_t> llc_of_core_;
    std::vector<std::uint32_t> node_of_core_;
};

}  // namespace autofinity::topology
