// Node and physical frame of each page.
//
// Pages are kept as 4 KiB frames, whatever their size: those of a larger unit lie next to each
// other on one node.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/program/program.hpp"
#include "units.hpp"
#include "zeroed.hpp"

namespace autofinity::sim {

enum class PagePolicy : std::uint8_t { first_touch, interleave, bind };

struct PageSettings {
    PagePolicy policy = PagePolicy::first_touch;
    std::uint32_t node = 0;  // of `bind`
    // Virtual page (4 KiB) → node; it overrides the policy. A larger unit has the node of its first
    // touched page.
    std::unordered_map<std::uint64_t, std::uint32_t> table = {};
};

class Pages {
  public:
    struct Page {
        Line first_line;  // in physical memory: the colour, which decides where the lines fall
        std::uint16_t node_plus_one;
        std::uint16_t moves;
    };

    Pages(const Program& program, const MachineModel& machine, PageSettings page_settings,
          std::uint64_t seed)
        : units(program, machine.page_bytes),
          program_(program),
          home_of_node_(machine.home_of_node),
          settings_(std::move(page_settings)),
          seed_(seed),
          pages_(program.n_pages()) {
        for (std::uint32_t node = 0; node < machine.topology.nodes(); ++node)
            if (home_of_node_[node] == node) homes_.push_back(node);
    }

    const Units units;

    bool mapped(std::uint32_t page) const { return pages_[page].node_plus_one != 0; }
    std::uint32_t node(std::uint32_t page) const { return pages_[page].node_plus_one - 1u; }
    std::uint32_t home(Line line) const { return node(line >> page_shift); }
    // Number of a line in physical memory; its low bits index L2 and LLC.
    std::uint32_t physical(Line line) const {
        return pages_[line >> page_shift].first_line | (line & (lines_per_page - 1));
    }

    void bring_near(std::uint32_t page) const { sim::bring_near(&pages_[page]); }

    // First touch by a core of `toucher`: places the whole unit.
    void map(std::uint32_t page, std::uint32_t toucher) {
        const std::uint64_t number = program_.virtual_page[page];
        std::uint32_t node = home_of_node_[toucher];
        if (settings_.policy == PagePolicy::interleave)
            node = homes_[number / units.pages() % homes_.size()];
        else if (settings_.policy == PagePolicy::bind)
            node = settings_.node;
        if (!settings_.table.empty())
            if (const auto at = settings_.table.find(number); at != settings_.table.end())
                node = at->second;
        place(page, node);
    }
    // A page table goes to the node of the core whose page fault made it.
    void map_table(std::uint32_t page, std::uint32_t toucher) {
        put(page, home_of_node_[toucher], frame(~std::uint64_t{page}, page));
    }

    // Gives the page's unit fresh frames on `node`.
    void place(std::uint32_t page, std::uint32_t node) {
        const std::uint64_t number = program_.virtual_page[page];
        const std::uint32_t mask = units.pages() - 1;
        const std::uint32_t first =
            frame(number != 0 ? units.first_page(number) : ~std::uint64_t{units.of(page)}, page) &
            ~mask;
        units.each_page(page, [&](std::uint32_t each) {
            // The simulator's own pages have no address: their dense numbers give the order.
            const std::uint64_t within = number != 0 ? program_.virtual_page[each] : each;
            put(each, node, first | (static_cast<std::uint32_t>(within) & mask));
        });
    }

  private:
    static constexpr std::uint32_t frame_mask = (1u << 26) - 1;  // frame and line fill 32 bits

    std::uint32_t frame(std::uint64_t key, std::uint32_t page) const {
        const std::uint64_t moves = pages_[page].moves + 1u;
        return static_cast<std::uint32_t>(mix(key + mix(seed_ + 0x9E3779B97F4A7C15u * moves))) &
               frame_mask;
    }
    void put(std::uint32_t page, std::uint32_t node, std::uint32_t frame) {
        Page& entry = pages_[page];
        entry.first_line = frame << page_shift;
        entry.node_plus_one = static_cast<std::uint16_t>(node + 1);
        ++entry.moves;
    }

    // splitmix64 (Steele, Lea & Flood 2014): the same page has the same colour for the same seed.
    static std::uint64_t mix(std::uint64_t x) {
        x += 0x9E3779B97F4A7C15u;
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
        x = (x ^ x >> 27) * 0x94D049BB133111EBu;
        return x ^ x >> 31;
    }

    const Program& program_;
    const std::vector<std::uint32_t>& home_of_node_;
    std::vector<std::uint32_t> homes_;  // nodes with memory
    PageSettings settings_;
    std::uint64_t seed_;
    Zeroed<Page> pages_;
};

}  // namespace autofinity::sim
