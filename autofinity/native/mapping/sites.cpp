#include "mapping/sites.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace autofinity::mapping {

namespace {

// Sites by a number that each has, in the order of their first sites.
template <typename Number>
std::vector<std::vector<int>> grouped_by(int sites, Number number) {
    std::map<int, int> known;
    std::vector<std::vector<int>> groups;
    for (int site = 0; site < sites; ++site) {
        const auto [found, made] = known.try_emplace(number(site), static_cast<int>(groups.size()));
        if (made) {
            groups.emplace_back();
        }
        groups[found->second].push_back(site);
    }
    return groups;
}

}  // namespace

Sites::Sites(const topology::Machine& machine, std::vector<int> pu, std::vector<int> kind)
    : machine_(machine),
      pu_(std::move(pu)),
      kind_(std::move(kind)),
      of_one_kind_(std::all_of(kind_.begin(), kind_.end(),
                               [&](int of_site) { return of_site == kind_.front(); })) {
    number_cells();
    find_closer();
}

void Sites::number_cells() {
    std::map<std::pair<int, int>, int> known;
    std::vector<int> first_of_cell;
    for (int site = 0; site < size(); ++site) {
        const int llc = machine_.pus()[pu_[site]].llc;
        const auto [found, made] = known.try_emplace({llc, machine_.places().of(pu_[site])},
                                                     static_cast<int>(known.size()));
        if (made) {
            first_of_cell.push_back(pu_[site]);
        }
        if (site == 0 || cell_.back() != found->second) {
            runs_.push_back({site, site, found->second});
        }
        ++runs_.back().end;
        cell_.push_back(found->second);
    }
    cells_ = static_cast<int>(known.size());
    for (const int one : first_of_cell) {
        for (const int other : first_of_cell) {
            const bool of_one_llc = machine_.pus()[one].llc == machine_.pus()[other].llc;
            between_cells_.push_back(of_one_llc
                                         ? topology::same_llc
                                         : machine_.places().between(machine_.places().of(one),
                                                                     machine_.places().of(other)));
        }
    }
}

void Sites::find_closer() {
    const auto& pus = machine_.pus();
    near_ = grouped_by(size(), [&](int site) { return pus[pu_[site]].l2; });
    l2_.resize(size());
    for (size_t l2 = 0; l2 < near_.size(); ++l2) {
        for (const int site : near_[l2]) {
            l2_[site] = static_cast<int>(l2);
        }
    }
    std::map<std::vector<int>, double> by;
    const auto add = [&](const std::vector<std::vector<int>>& groups, double closer) {
        for (const auto& group : groups) {
            if (group.size() > 1) {
                by[group] += closer;
            }
        }
    };
    add(near_, topology::same_llc - topology::same_l2);
    add(grouped_by(size(), [&](int site) { return pus[pu_[site]].core; }),
        topology::same_l2 - topology::same_core);
    add(grouped_by(size(), [&](int site) { return pu_[site]; }), topology::same_core);
    for (auto& [group, closer] : by) {
        closer_.push_back({group, closer});
    }
}

}  // namespace autofinity::mapping
