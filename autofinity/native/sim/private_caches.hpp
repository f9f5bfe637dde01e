// L1, L2 and TLBs of one core. No knowledge of other cores.
#pragma once

#include <vector>

#include "counts.hpp"
#include "machine.hpp"
#include "sets.hpp"
#include "zeroed.hpp"

namespace autofinity::sim {

// Fully associative first-level TLB with true LRU. A page finds its entry through a table instead
// of a search; the least recent one is searched for on misses only.
class Tlb1 {
  public:
    Tlb1(std::uint32_t entries, std::uint32_t pages)
        : slot_of_(pages), page_(entries, 0), used_at_(entries, 0) {}

    bool touch(std::uint32_t page) {
        const std::uint8_t slot = slot_of_[page];
        if (slot == 0) return false;
        used_at_[slot - 1u] = ++clock_;
        return true;
    }
    void insert(std::uint32_t page) {
        std::size_t victim = 0;
        if (filled_ < page_.size()) {
            victim = filled_++;
        } else {
            for (std::size_t i = 1; i < used_at_.size(); ++i)
                if (used_at_[i] < used_at_[victim]) victim = i;
            slot_of_[page_[victim]] = 0;
        }
        page_[victim] = page;
        used_at_[victim] = ++clock_;
        slot_of_[page] = static_cast<std::uint8_t>(victim + 1);
    }
    void forget(std::uint32_t page) {
        if (const std::uint8_t slot = slot_of_[page]; slot != 0) {
            slot_of_[page] = 0;
            page_[slot - 1u] = 0;  // page 0 is never used: its slot can be cleared twice
            used_at_[slot - 1u] = 0;
        }
    }

  private:
    Zeroed<std::uint8_t> slot_of_;
    std::vector<std::uint32_t> page_;
    std::vector<std::uint64_t> used_at_;
    std::uint64_t clock_ = 0;
    std::size_t filled_ = 0;
};

struct PrivateCaches {
    PrivateCaches(const Machine& m, std::uint32_t core_number, std::uint32_t pages)
        : l1(m.l1.sets, m.l1.ways),
          l2(m.l2.sets, m.l2.ways),
          tlb1(m.tlb1_entries, pages),
          tlb2(m.tlb2.sets, m.tlb2.ways),
          core(core_number),
          llc(m.llc_of_core[core_number]),
          node(m.node_of_core[core_number]) {}

    Sets l1, l2;
    Tlb1 tlb1;
    Sets tlb2;
    std::uint32_t core, llc, node;
    Counts* counts = nullptr;  // of the stream that runs here
};

}  // namespace autofinity::sim
