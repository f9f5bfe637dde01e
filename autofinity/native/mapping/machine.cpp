#include "mapping/machine.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace autofinity::mapping {

Machine::Machine(std::vector<Pu> pus, const std::vector<double>& slit, int nodes)
    : pus_(std::move(pus)) {
    if (nodes < 1 || slit.size() != static_cast<size_t>(nodes) * nodes) {
        throw std::invalid_argument("expected one distance for each pair of nodes");
    }
    std::map<std::pair<int, int>, int> place_of;
    std::map<int, int> node_of_llc;
    for (size_t i = 0; i < pus_.size(); ++i) {
        const Pu& pu = pus_[i];
        if (pu.node < 0 || pu.node >= nodes) {
            throw std::invalid_argument("a PU is on an unknown node");
        }
        of_os_[pu.os] = static_cast<int>(i);
        place_of.try_emplace({pu.package, pu.node}, 0);
        node_in_llc_ |= node_of_llc.try_emplace(pu.llc, pu.node).first->second != pu.node;
    }
    for (auto& [key, place] : place_of) {
        place = places_++;
    }
    for (const Pu& pu : pus_) {
        place_.push_back(place_of[{pu.package, pu.node}]);
    }
    for (const auto& [a, unused_a] : place_of) {
        for (const auto& [b, unused_b] : place_of) {
            if (a.second == b.second) {
                between_places_.push_back(a.first == b.first ? same_node : other_package_of_node);
                continue;
            }
            // A SLIT need not be symmetric.
            const double there = slit[static_cast<size_t>(a.second) * nodes + b.second];
            const double back = slit[static_cast<size_t>(b.second) * nodes + a.second];
            between_places_.push_back(std::max(nearest_node, (there + back) / 2));
        }
    }
}

int Machine::find(int64_t os) const {
    const auto found = of_os_.find(os);
    return found == of_os_.end() ? -1 : found->second;
}

std::array<int, levels> Machine::path(int pu) const {
    const Pu& p = pus_[pu];
    if (node_in_llc_) {
        return {p.package, p.llc, p.node, p.l2, p.core, pu};
    }
    return {p.package, p.node, p.llc, p.l2, p.core, pu};
}

}  // namespace autofinity::mapping
