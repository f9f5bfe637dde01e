#include "mapping/grouping.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>

namespace autofinity::mapping {

namespace {

struct Group {
    std::vector<int> members;  // groups of the level below, by their least thread
    int least_thread;
    int shape;
};

// The kinds of parts of a level, those with most seats first.
std::vector<std::pair<int, Wanted>> kinds_of(const std::vector<Part>& parts,
                                             const std::vector<Part>& below) {
    std::map<std::pair<int, int>, Wanted> kinds;
    for (const Part& part : parts) {
        Wanted& wanted = kinds[{-part.seats, part.shape}];
        if (wanted.groups++ == 0) {
            std::map<int, int> needs;
            for (const int child : part.children) {
                ++needs[below[child].shape];
            }
            wanted.needs.assign(needs.begin(), needs.end());
        }
    }
    std::vector<std::pair<int, Wanted>> found;
    for (auto& [key, wanted] : kinds) {
        found.emplace_back(key.second, std::move(wanted));
    }
    return found;
}

void take(const std::vector<std::vector<int>>& groups, const Wanted& wanted,
          const std::vector<int>& shape, std::vector<char>& free) {
    if (groups.size() != static_cast<size_t>(wanted.groups)) {
        throw std::logic_error("a grouper made another number of groups than was asked for");
    }
    for (const auto& group : groups) {
        std::map<int, int> left(wanted.needs.begin(), wanted.needs.end());
        for (const int member : group) {
            if (member < 0 || member >= static_cast<int>(free.size()) || !free[member] ||
                --left[shape[member]] < 0) {
                throw std::logic_error("a grouper took what was not to be had");
            }
            free[member] = 0;
        }
        if (std::any_of(left.begin(), left.end(), [](const auto& need) { return need.second; })) {
            throw std::logic_error("a grouper left a group unfinished");
        }
    }
}

Matrix between(const Matrix& weights, const std::vector<Group>& groups) {
    const int below = weights.size();
    const int size = static_cast<int>(groups.size());
    Matrix made(size);
    std::vector<double> sums(below);
    for (int a = 0; a < size; ++a) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (const int member : groups[a].members) {
            const double* row = weights.row(member);
            for (int i = 0; i < below; ++i) {
                sums[i] += row[i];
            }
        }
        for (int b = 0; b < size; ++b) {
            double sum = 0;
            for (const int member : groups[b].members) {
                sum += sums[member];
            }
            made.row(a)[b] = a == b ? 0 : sum;
        }
    }
    return made;
}

// One group around each element: for levels whose parts all have one child.
std::vector<Group> alone(const std::vector<Group>& elements, const std::vector<Part>& parts,
                         const std::vector<Part>& below) {
    std::map<int, int> shape_of;
    for (const Part& part : parts) {
        shape_of[below[part.children[0]].shape] = part.shape;
    }
    std::vector<Group> groups;
    for (int i = 0; i < static_cast<int>(elements.size()); ++i) {
        groups.push_back({{i}, elements[i].least_thread, shape_of.at(elements[i].shape)});
    }
    return groups;
}

std::vector<Group> grouped(const Matrix& weights, const std::vector<Group>& elements,
                           const std::vector<Part>& parts, const std::vector<Part>& below,
                           Grouper& grouper) {
    std::vector<int> shape;
    for (const Group& element : elements) {
        shape.push_back(element.shape);
    }
    std::vector<char> free(elements.size(), 1);
    std::vector<Group> groups;
    for (const auto& [kind, wanted] : kinds_of(parts, below)) {
        const auto made = grouper.group(weights, shape, free, wanted);
        take(made, wanted, shape, free);
        for (std::vector<int> members : made) {
            std::sort(members.begin(), members.end());
            groups.push_back({members, elements[members[0]].least_thread, kind});
        }
    }
    std::sort(groups.begin(), groups.end(),
              [](const Group& a, const Group& b) { return a.least_thread < b.least_thread; });
    return groups;
}

}  // namespace

std::vector<int> map_by_groups(const Matrix& sharing, const SeatTree& tree, Grouper& grouper) {
    const auto& parts = tree.parts();
    const int innermost = static_cast<int>(parts.size()) - 1;
    std::vector<std::vector<Group>> groups(parts.size());
    for (int thread = 0; thread < sharing.size(); ++thread) {
        groups[innermost].push_back({{}, thread, 0});
    }
    Matrix weights = sharing;
    for (int level = innermost - 1; level >= 0; --level) {
        if (parts[level].size() == parts[level + 1].size()) {
            groups[level] = alone(groups[level + 1], parts[level], parts[level + 1]);
            continue;
        }
        groups[level] =
            grouped(weights, groups[level + 1], parts[level], parts[level + 1], grouper);
        weights = between(weights, groups[level]);
    }

    std::vector<int> pu_of_thread(sharing.size());
    const std::function<void(int, int, int)> hand_down = [&](int level, int group, int part) {
        if (level == innermost) {
            pu_of_thread[groups[level][group].least_thread] = tree.pus()[part];
            return;
        }
        std::vector<int> rooms = parts[level][part].children;
        for (const int member : groups[level][group].members) {
            const auto room = std::find_if(rooms.begin(), rooms.end(), [&](int child) {
                return parts[level + 1][child].shape == groups[level + 1][member].shape;
            });
            const int child = *room;
            rooms.erase(room);
            hand_down(level + 1, member, child);
        }
    };
    hand_down(0, 0, 0);
    return pu_of_thread;
}

}  // namespace autofinity::mapping
