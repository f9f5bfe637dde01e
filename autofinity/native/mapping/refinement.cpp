#include "mapping/refinement.hpp"

#include <algorithm>
#include <map>

#include "mapping/swaps.hpp"

namespace autofinity::mapping {

namespace {

// Rounding could let two mappings of equal cost follow each other for ever.
constexpr int most_rounds = 32;

std::vector<int> seats_taken(const SeatTree& tree, const std::vector<int>& pu_of_thread) {
    std::multimap<int, int> seats_of;
    for (int seat = 0; seat < tree.seats(); ++seat) {
        seats_of.emplace(tree.pus()[seat], seat);
    }
    std::vector<int> thread_on(tree.seats());
    for (int thread = 0; thread < tree.seats(); ++thread) {
        const auto seat = seats_of.find(pu_of_thread[thread]);
        thread_on[seat->second] = thread;
        seats_of.erase(seat);
    }
    return thread_on;
}

Matrix between_parts(const Matrix& sharing, const std::vector<Part>& parts,
                     const std::vector<int>& thread_on) {
    std::vector<int> part_of(sharing.size());
    for (int part = 0; part < static_cast<int>(parts.size()); ++part) {
        for (int i = 0; i < parts[part].seats; ++i) {
            part_of[thread_on[parts[part].first_seat + i]] = part;
        }
    }
    Matrix made(static_cast<int>(parts.size()));
    for (int i = 0; i < sharing.size(); ++i) {
        double* row = made.row(part_of[i]);
        const double* shares = sharing.row(i);
        for (int j = 0; j < sharing.size(); ++j) {
            row[part_of[j]] += shares[j];
        }
    }
    for (int part = 0; part < made.size(); ++part) {
        made.row(part)[part] = 0;
    }
    return made;
}

// Whether distances between the parts are those between their first PUs.
bool of_one_place(const Machine& machine, const SeatTree& tree, const std::vector<Part>& parts) {
    return std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
        const int first = tree.pus()[part.first_seat];
        const int last = tree.pus()[part.first_seat + part.seats - 1];
        return machine.place(first) == machine.place(last);
    });
}

bool exchange_parts(const Machine& machine, const Matrix& sharing, const SeatTree& tree,
                    const std::vector<Part>& parts, std::vector<int>& thread_on) {
    const Matrix weights = between_parts(sharing, parts, thread_on);
    std::vector<int> kind;
    std::vector<int> pu;
    for (const Part& part : parts) {
        kind.push_back(part.layout);
        pu.push_back(tree.pus()[part.first_seat]);
    }
    Swaps swaps(machine, weights, kind, pu);
    if (!swaps.run()) {
        return false;
    }
    // Seats of one PU are parts alike in everything: the first that is left will do.
    std::multimap<int, int> parts_at;
    for (int part = 0; part < static_cast<int>(parts.size()); ++part) {
        parts_at.emplace(pu[part], part);
    }
    const std::vector<int> before = thread_on;
    for (int part = 0; part < static_cast<int>(parts.size()); ++part) {
        const auto at = parts_at.find(swaps.pu()[part]);
        std::copy_n(before.begin() + parts[part].first_seat, parts[part].seats,
                    thread_on.begin() + parts[at->second].first_seat);
        parts_at.erase(at);
    }
    return true;
}

}  // namespace

std::vector<int> refined(const Machine& machine, const Matrix& sharing, const SeatTree& tree,
                         const std::vector<int>& pu_of_thread) {
    const auto& parts = tree.parts();
    std::vector<int> thread_on = seats_taken(tree, pu_of_thread);
    bool again = true;
    for (int round = 0; again && round < most_rounds; ++round) {
        again = false;
        for (size_t level = 1; level < parts.size(); ++level) {
            // A level whose parts have one child each is the next one over again.
            const bool last = level + 1 == parts.size();
            if (parts[level].size() < 2 ||
                (!last && parts[level].size() == parts[level + 1].size()) ||
                !of_one_place(machine, tree, parts[level])) {
                continue;
            }
            again |= exchange_parts(machine, sharing, tree, parts[level], thread_on);
        }
    }
    std::vector<int> found(thread_on.size());
    for (int seat = 0; seat < tree.seats(); ++seat) {
        found[thread_on[seat]] = tree.pus()[seat];
    }
    return found;
}

}  // namespace autofinity::mapping
