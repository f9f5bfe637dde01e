// Which node and which physical frame a page has.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "program.hpp"
#include "zeroed.hpp"

namespace autofinity::sim {

enum class PagePolicy : std::uint8_t { first_touch, interleave, bind };

struct Placement {
    PagePolicy policy = PagePolicy::first_touch;
    std::uint32_t node = 0;                                       // of `bind`
    std::unordered_map<std::uint64_t, std::uint32_t> table = {};  // virtual page → node, goes first
};

class Pages {
  public:
    struct Page {
        std::uint32_t frame;  // decides the colour: which sets the page's lines fall into
        std::uint16_t node_plus_one;
        std::uint16_t moves;
    };

    Pages(const Program& program, Placement placement, std::uint32_t nodes, std::uint64_t seed)
        : program_(program),
          placement_(std::move(placement)),
          nodes_(nodes),
          seed_(seed),
          pages_(program.n_pages()) {}

    bool mapped(std::uint32_t page) const { return pages_[page].node_plus_one != 0; }
    std::uint32_t node(std::uint32_t page) const { return pages_[page].node_plus_one - 1u; }
    // Number of a line in physical memory; its low bits index L2 and LLC.
    std::uint32_t physical(Line line) const {
        return pages_[line >> page_shift].frame << page_shift | (line & (lines_per_page - 1));
    }

    // First touch by a core of `toucher`.
    void map(std::uint32_t page, std::uint32_t toucher) {
        const std::uint64_t number = program_.virtual_page[page];
        std::uint32_t node = toucher;
        if (placement_.policy == PagePolicy::interleave)
            node = static_cast<std::uint32_t>(number % nodes_);
        else if (placement_.policy == PagePolicy::bind)
            node = placement_.node;
        if (!placement_.table.empty())
            if (const auto at = placement_.table.find(number); at != placement_.table.end())
                node = at->second;
        place(page, node);
    }

    // Gives the page a fresh frame on `node`.
    void place(std::uint32_t page, std::uint32_t node) {
        Page& entry = pages_[page];
        const std::uint64_t key =
            program_.virtual_page[page] != 0 ? program_.virtual_page[page] : ~std::uint64_t{page};
        entry.node_plus_one = static_cast<std::uint16_t>(node + 1);
        entry.frame = static_cast<std::uint32_t>(
                          mix(key + mix(seed_ + 0x9E3779B97F4A7C15u * (entry.moves + 1u)))) &
                      frame_mask;
        ++entry.moves;
    }

  private:
    static constexpr std::uint32_t frame_mask = (1u << 26) - 1;  // frame and line fill 32 bits

    // splitmix64 (Steele, Lea & Flood 2014): the same page has the same colour for the same seed.
    static std::uint64_t mix(std::uint64_t x) {
        x += 0x9E3779B97F4A7C15u;
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
        x = (x ^ x >> 27) * 0x94D049BB133111EBu;
        return x ^ x >> 31;
    }

    const Program& program_;
    Placement placement_;
    std::uint32_t nodes_;
    std::uint64_t seed_;
    Zeroed<Page> pages_;
};

}  // namespace autofinity::sim
