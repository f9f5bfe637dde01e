#include "mapping/seat_tree.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace autofinity::mapping {

using topology::levels;

SeatTree::SeatTree(const topology::Machine& machine, std::vector<int> pus) : pus_(std::move(pus)) {
    std::vector<std::array<int, levels>> paths(machine.pus().size());
    for (const int pu : pus_) {
        paths[pu] = machine.path(pu);
    }
    std::sort(pus_.begin(), pus_.end(), [&](int a, int b) { return paths[a] < paths[b]; });
    parts_.resize(levels + 2);
    parts_[0].emplace_back();
    for (int seat = 0; seat < seats(); ++seat) {
        const auto& path = paths[pus_[seat]];
        // The outermost level on which this seat leaves the parts of the one before it.
        int differs = 0;
        if (seat > 0) {
            const auto& before = paths[pus_[seat - 1]];
            while (differs < levels && path[differs] == before[differs]) {
                ++differs;
            }
        }
        for (int level = differs + 1; level <= levels + 1; ++level) {
            parts_[level - 1].back().children.push_back(static_cast<int>(parts_[level].size()));
            parts_[level].emplace_back();
            parts_[level].back().first_seat = seat;
        }
        for (auto& level : parts_) {
            ++level.back().seats;
        }
    }
    give_shapes();
}

void SeatTree::give_shapes() {
    using Known = std::map<std::vector<int>, int>;
    const auto number = [](Known& known, const std::vector<int>& key) {
        return known.try_emplace(key, static_cast<int>(known.size())).first->second;
    };
    for (int level = levels; level >= 0; --level) {
        Known shapes;
        Known layouts;
        for (Part& part : parts_[level]) {
            std::vector<int> shape;
            std::vector<int> layout;
            for (const int child : part.children) {
                shape.push_back(parts_[level + 1][child].shape);
                layout.push_back(parts_[level + 1][child].layout);
            }
            std::sort(shape.begin(), shape.end());
            part.shape = number(shapes, shape);
            part.layout = number(layouts, layout);
        }
    }
}

}  // namespace autofinity::mapping
