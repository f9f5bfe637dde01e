#include "page_tables.hpp"

#include <unordered_map>

namespace autofinity::sim {
namespace {

constexpr std::uint64_t own_groups = std::uint64_t{1} << 60;  // beyond the addresses of any process
constexpr std::uint64_t groups_in_region = 64;
constexpr std::uint64_t regions_in_upper = 512;
constexpr Line lines_of_table = 64;

}  // namespace

PageTables::PageTables(const std::vector<std::uint64_t>& virtual_page, Line first) : end(first) {
    const std::size_t n = virtual_page.size() / 8;
    std::vector<std::uint64_t> name_of_region{0};
    std::unordered_map<std::uint64_t, std::uint32_t> number;
    std::vector<std::uint64_t> name_of_group(n);
    region_of_group.resize(n);
    std::vector<std::uint32_t> count{0};
    for (std::size_t group = 1; group < n; ++group) {
        const std::uint64_t own = own_groups + group;
        name_of_group[group] = virtual_page[group * 8] != 0 ? virtual_page[group * 8] >> 3 : own;
        const std::uint64_t name = name_of_group[group] / groups_in_region;
        const auto [at, added] =
            number.try_emplace(name, static_cast<std::uint32_t>(name_of_region.size()));
        if (added) {
            name_of_region.push_back(name);
            count.push_back(0);
        }
        region_of_group[group] = at->second;
        ++count[at->second];
    }
    first_group.assign(name_of_region.size() + 1, 0);
    for (std::size_t region = 0; region < name_of_region.size(); ++region)
        first_group[region + 1] = first_group[region] + count[region];
    groups.resize(first_group.back());
    std::vector<std::uint32_t> next(first_group.begin(), first_group.end() - 1);
    entry_of_group.resize(n);
    for (std::size_t group = 1; group < n; ++group) {
        const std::uint32_t region = region_of_group[group];
        groups[next[region]++] = static_cast<std::uint32_t>(group);
        entry_of_group[group] = first + region * lines_of_table +
                                static_cast<Line>(name_of_group[group] % groups_in_region);
    }
    Line table = first + static_cast<Line>(name_of_region.size()) * lines_of_table;
    std::unordered_map<std::uint64_t, Line> upper;
    entry_of_region.resize(name_of_region.size());
    for (std::size_t region = 0; region < name_of_region.size(); ++region) {
        const auto [at, added] =
            upper.try_emplace(name_of_region[region] / regions_in_upper, table);
        if (added) table += lines_of_table;
        entry_of_region[region] =
            at->second + static_cast<Line>(name_of_region[region] % regions_in_upper / 8);
    }
    end = table;
}

}  // namespace autofinity::sim
