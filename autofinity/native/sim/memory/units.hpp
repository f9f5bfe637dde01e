// Translation units: the memory that one TLB entry and one page-table entry map, and that is placed
// and moved as a whole. Pages of 4 KiB or 16 KiB, or regions of 2 MiB.
#pragma once

#include <cstdint>

#include "sim/machine.hpp"
#include "sim/program/program.hpp"

namespace autofinity::sim {

class Units {
  public:
    Units(const Program& program, std::uint32_t page_bytes)
        : program_(program),
          regions_(page_bytes == large ? program.tables.region_of_group.data() : nullptr),
          shift_(page_bytes == 16384 ? 2 : 0) {}

    static constexpr std::uint32_t large = 2u << 20;

    std::uint32_t of(std::uint32_t page) const {
        return regions_ != nullptr ? regions_[page >> 3] : page >> shift_;
    }
    std::uint32_t count() const {
        return regions_ != nullptr ? program_.tables.regions()
                                   : (program_.n_pages() + (1u << shift_) - 1) >> shift_;
    }
    // Line that holds the page-table entry of the page's unit.
    Line entry(std::uint32_t page) const {
        const PageTables& tables = program_.tables;
        if (regions_ != nullptr) return tables.entry_of_region[regions_[page >> 3]];
        // Two units of 16 KiB in a group: the entries of four groups share a line.
        const Line line = tables.entry_of_group[page >> 3];
        return shift_ == 0 ? line : (line & ~Line{63}) | (line & 63) >> shift_;
    }
    // The 4 KiB pages of the page's unit that a program can touch.
    template <typename Visit>
    void each_page(std::uint32_t page, Visit&& visit) const {
        if (regions_ == nullptr) {
            const std::uint32_t first = page >> shift_ << shift_;
            for (std::uint32_t i = 0; i < 1u << shift_; ++i) visit(first + i);
            return;
        }
        const PageTables& tables = program_.tables;
        const std::uint32_t region = regions_[page >> 3];
        for (std::uint32_t k = tables.first_group[region]; k < tables.first_group[region + 1]; ++k)
            for (std::uint32_t i = 0; i < 8; ++i) visit(tables.groups[k] << 3 | i);
    }
    // Virtual page number of the unit's first page, and the number of its pages.
    std::uint64_t first_page(std::uint64_t virtual_page) const {
        return virtual_page & ~static_cast<std::uint64_t>(pages() - 1);
    }
    std::uint32_t pages() const { return regions_ != nullptr ? 512 : 1u << shift_; }

  private:
    const Program& program_;
    const std::uint32_t* regions_;  // of groups; null: pages
    std::uint32_t shift_;
};

}  // namespace autofinity::sim
