// The LLC that may have a line, for each core.
//
// An LLC has lines that its cores use, or lines by their home, as with sub-NUMA clusters: a line of
// the socket's own memory goes into the LLC of its node, whichever core of the socket uses the
// line, and a line of other memory (of another socket, or of a node without cores) into one of the
// socket's LLCs, by its place. So with such clusters a socket has a line in one LLC at most.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine.hpp"
#include "sim/types.hpp"

namespace autofinity::sim {

class LlcChoice {
  public:
    explicit LlcChoice(const MachineModel& machine)
        : nodes_(machine.topology.nodes()),
          group_of_llc_(machine.topology.llcs()),
          groups_(machine.topology.llcs()),
          of_node_(std::size_t{machine.topology.llcs()} * nodes_, none) {
        for (std::uint32_t llc = 0; llc < group_of_llc_.size(); ++llc) {
            const int socket = machine.topology.socket_of_llc()[llc];
            group_of_llc_[llc] = machine.llc_by_home ? static_cast<std::uint32_t>(socket) : llc;
            groups_[group_of_llc_[llc]].push_back(llc);
        }
        if (!machine.llc_by_home) return;
        for (std::uint32_t core = 0; core < machine.topology.cores(); ++core) {
            const std::uint32_t own = machine.topology.llc_of_core()[core];
            for (const std::uint32_t llc : group(own))
                of_node_[llc * nodes_ + machine.topology.node_of_core()[core]] = own;
        }
    }

    // LLCs that may have lines which the cores of an LLC use.
    const std::vector<std::uint32_t>& group(std::uint32_t llc) const {
        return groups_[group_of_llc_[llc]];
    }
    // The one of them for a line with this home and place in physical memory.
    std::uint32_t of(std::uint32_t llc, std::uint32_t home, std::uint32_t place) const {
        const std::uint32_t of_home = of_node_[llc * nodes_ + home];
        if (of_home != none) return of_home;
        // The set comes from the lower bits of the place; the upper ones of a product are
        // independent of them.
        const std::uint64_t mixed = place * std::uint32_t{0x9E3779B1};
        return group(llc)[mixed * group(llc).size() >> 32];
    }

  private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    const std::uint32_t nodes_;
    std::vector<std::uint32_t> group_of_llc_;
    std::vector<std::vector<std::uint32_t>> groups_;
    std::vector<std::uint32_t> of_node_;  // llcs × nodes; none: other memory
};

}  // namespace autofinity::sim
