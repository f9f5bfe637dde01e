// First-level TLB of a core with true LRU: fully associative, or a set-associative array.
//
// It translates units: pages of 4 or 16 KiB, or regions of 2 MiB (units.hpp). In a fully
// associative TLB a unit finds its entry through a table instead of a search, so that a hit is one
// load and one store.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "machine.hpp"
#include "sets.hpp"
#include "zeroed.hpp"

namespace autofinity::sim {

class Tlb {
  public:
    Tlb(CacheShape shape, std::uint32_t units)
        : sets_(shape.sets, shape.sets > 1 ? shape.ways : 0),
          slot_of_(shape.sets > 1 ? 0 : units),
          unit_(shape.sets > 1 ? 0 : shape.ways, 0),
          used_at_((unit_.size() + group - 1) / group * group, never),
          group_oldest_(used_at_.size() / group, 0) {}

    bool holds(std::uint32_t unit) {
        return sets_.ways() != 0 ? sets_.find(sets_.at(unit), unit) >= 0 : slot_of_[unit] != 0;
    }
    // Makes the unit the most recent one; false when it is not there.
    bool touch(std::uint32_t unit) {
        if (sets_.ways() != 0) {
            Word* set = sets_.at(unit);
            const int way = sets_.find(set, unit);
            if (way < 0) return false;
            to_front(set, way, set[way]);
            return true;
        }
        const std::uint8_t slot = slot_of_[unit];
        if (slot == 0) return false;
        used_at_[slot - 1u] = ++clock_;
        return true;
    }
    void insert(std::uint32_t unit) {
        if (sets_.ways() != 0) {
            sets_.insert(sets_.at(unit), word_of(unit, shared));
            return;
        }
        std::size_t victim = 0;
        if (filled_ < unit_.size()) {
            victim = filled_++;
        } else {
            victim = least_recent();
            slot_of_[unit_[victim]] = 0;
        }
        unit_[victim] = unit;
        used_at_[victim] = ++clock_;
        slot_of_[unit] = static_cast<std::uint8_t>(victim + 1);
    }
    // Returns whether it was there.
    bool forget(std::uint32_t unit) {
        if (sets_.ways() != 0) {
            Word* set = sets_.at(unit);
            const int way = sets_.find(set, unit);
            if (way >= 0) sets_.remove(set, way);
            return way >= 0;
        }
        const std::uint8_t slot = slot_of_[unit];
        if (slot == 0) return false;
        slot_of_[unit] = 0;
        unit_[slot - 1u] = 0;  // unit 0 is never used: its slot can be cleared twice
        used_at_[slot - 1u] = 0;
        group_oldest_[(slot - 1u) / group] = 0;
        return true;
    }

  private:
    static constexpr std::size_t group = 8;
    static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

    // `group_oldest_` holds a lower bound of the times in each group of entries: hits make entries
    // younger without telling it, so a bound is made exact only when it is the least of all.
    std::size_t least_recent() {
        for (;;) {
            const auto oldest = static_cast<std::size_t>(
                std::min_element(group_oldest_.begin(), group_oldest_.end()) -
                group_oldest_.begin());
            const auto first = used_at_.begin() + static_cast<std::ptrdiff_t>(oldest * group);
            const auto least = std::min_element(first, first + group);
            if (*least == group_oldest_[oldest])
                return static_cast<std::size_t>(least - used_at_.begin());
            group_oldest_[oldest] = *least;
        }
    }

    Sets sets_;
    Zeroed<std::uint8_t> slot_of_;  // of a unit, plus one
    std::vector<std::uint32_t> unit_;
    std::vector<std::uint64_t> used_at_;
    std::vector<std::uint64_t> group_oldest_;
    std::uint64_t clock_ = 0;
    std::size_t filled_ = 0;
};

}  // namespace autofinity::sim
