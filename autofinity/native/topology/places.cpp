#include "topology/places.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace autofinity::topology {

Places::Places(std::span<const Pu> pus, std::span<const std::int64_t> slit, std::uint32_t nodes) {
    std::map<std::pair<int, int>, int> number;  // of socket and node
    for (const Pu& pu : pus) {
        number.try_emplace({pu.socket, pu.node}, 0);
    }
    for (auto& [part, place] : number) {
        place = count_++;
    }
    for (const Pu& pu : pus) {
        of_pu_.push_back(number[{pu.socket, pu.node}]);
    }
    for (const auto& [a, unused_a] : number) {
        for (const auto& [b, unused_b] : number) {
            if (a.second == b.second) {
                between_.push_back(a.first == b.first ? same_node : other_socket_of_node);
                continue;
            }
            // A SLIT need not be symmetric.
            const auto there = static_cast<double>(slit[std::size_t{nodes} * a.second + b.second]);
            const auto back = static_cast<double>(slit[std::size_t{nodes} * b.second + a.second]);
            between_.push_back(std::max(nearest_node, (there + back) / 2));
        }
    }
}

}  // namespace autofinity::topology
