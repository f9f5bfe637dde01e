// Places of the page-table entries of a program, as lines of their own after its data.
//
// A table page of 4 KiB maps a region of 2 MiB, one entry of 8 bytes a page: a line of it maps a
// group of eight 4 KiB pages (32 KiB). With 2 MiB pages the entries are those of the table one
// level up, whose page maps 1 GiB. Higher levels are not fetched: a walk is assumed to find them in
// the core's paging-structure caches.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/memory/sets.hpp"

namespace autofinity::sim {

struct PageTables {
    // Regions are numbered from 1, so that 0 can mean an empty way of a TLB.
    std::vector<std::uint32_t> region_of_group;
    // Groups of region r: `groups` from `first_group[r]` to the next.
    std::vector<std::uint32_t> first_group, groups;
    std::vector<Line> entry_of_group;   // line with the entries of the group's pages
    std::vector<Line> entry_of_region;  // line with the region's entry one level up
    Line end = 0;                       // after the last line of a table

    PageTables() = default;
    // Tables for dense pages with these virtual page numbers, in whole groups of eight (0: a page
    // of the simulator's own, which gets an address that no program has), from line `first` on.
    // Nothing ever lies in group 0, which has no table.
    PageTables(const std::vector<std::uint64_t>& virtual_page, Line first);

    std::uint32_t regions() const {
        return static_cast<std::uint32_t>(first_group.empty() ? 1 : first_group.size() - 1);
    }
};

}  // namespace autofinity::sim
