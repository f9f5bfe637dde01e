#include "affinity/search.hpp"

#include "affinity/near_nodes.hpp"
#include "affinity/partial_set.hpp"

namespace autofinity::affinity {

namespace {

// Takes slots in ascending order of OS index, each if some acceptable set holds it together with
// those taken. `solve` looks for such a set; `set` has been solved with `solve`.
template <typename Solve>
std::vector<int> smallest_list(PartialSet& set, const Solve& solve) {
    std::vector<int> chosen;
    std::vector<int> witness = set.held();
    int rest = set.level().threads;
    for (const Slot& slot : set.level().slots) {
        if (rest == 0) {
            break;
        }
        if (!set.open(slot.cell)) {
            continue;
        }
        const bool known = witness[slot.cell] > set.taken(slot.cell);
        set.take(slot.cell, 1);
        if (known || solve()) {
            if (!known) {
                witness = set.held();
            }
            chosen.push_back(slot.pu);
            --rest;
            continue;
        }
        // Later slots of the cell are no better: this one could replace any of them.
        set.take(slot.cell, -1);
        set.close(slot.cell);
    }
    return chosen;
}

// Takes slots on `first` nodes in ascending order of OS index, each if some acceptable set holds it
// together with those taken. Returns their cells, one for each slot; `set` is solved with them.
std::vector<int> take_first(PartialSet& set, const std::vector<uint8_t>& first) {
    std::vector<int> cells;
    std::vector<uint8_t> failed(set.level().cells.size(), 0);
    for (const Slot& slot : set.level().slots) {
        if (first[set.level().cells[slot.cell].node] == 0 || failed[slot.cell] != 0) {
            continue;
        }
        set.take(slot.cell, 1);
        if (set.solve()) {
            cells.push_back(slot.cell);
        } else {
            set.take(slot.cell, -1);
            failed[slot.cell] = 1;
        }
    }
    set.solve();
    return cells;
}

}  // namespace

std::vector<int> nearest_set(const topology::Machine& machine, const Level& level, Problem& problem,
                             const std::vector<uint8_t>& first) {
    PartialSet set(level, problem, machine.nodes());
    const auto solve = [&] { return set.solve(); };
    if (!solve()) {
        return {};
    }
    if (level.nodes.size() == 1) {
        return smallest_list(set, solve);
    }
    const std::vector<int> taken = first.empty() ? std::vector<int>() : take_first(set, first);
    // Below, the smallest list takes the same slots again, where they come first in it.
    const auto release = [&] {
        for (const int cell : taken) {
            set.take(cell, -1);
        }
    };
    NearNodes near(machine, set);
    if (level.nodes.size() > NearNodes::kExactNodes) {
        near.choose_greedily();
        release();
        return solve() ? smallest_list(set, solve) : std::vector<int>();
    }
    int64_t nearest = near.used_distance();
    std::vector<int> best = set.held();
    while (near.find(nearest - 1)) {
        nearest = near.used_distance();
        best = set.held();
    }
    release();
    set.set_held(best);
    return smallest_list(set, [&] { return near.find(nearest); });
}

}  // namespace autofinity::affinity
