// First-level TLB of a core with true LRU: fully associative, or a set-associative array.
//
// It translates units: pages of 4 or 16 KiB, or regions of 2 MiB (units.hpp). In a fully
// associative TLB a unit finds its entry through a table instead of a search, so that a hit is one
// load and one store.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sets.hpp"
#include "sim/machine.hpp"
#include "zeroed.hpp"

namespace autofinity::sim {

class Tlb {
  public:
    Tlb(CacheShape shape, std::uint32_t units)
        : sets_(shape.sets, shape.sets > 1 ? shape.ways : 0),
          entries_(shape.sets > 1 ? 0 : shape.ways),
          entry_of_(shape.sets > 1 ? 0 : units),
          unit_(entries_, 0),
          used_at_(entries_, 0),
          by_age_(entries_) {}

    bool holds(std::uint32_t unit) {
        return sets_.ways() != 0 ? sets_.find(sets_.at(unit), unit) >= 0 : entry_of_[unit] != 0;
    }
    // Makes the unit the most recent one; false when it is not there.
    bool touch(std::uint32_t unit) {
        if (sets_.ways() != 0) {
            Word* set = sets_.at(unit);
            const int way = sets_.find(set, unit);
            if (way < 0) return false;
            sets_.to_front(set, way, set[way]);
            return true;
        }
        const std::uint8_t entry = entry_of_[unit];
        if (entry == 0) return false;
        used_at_[entry - 1u] = ++clock_;
        return true;
    }
    // Returns the unit that fell out, or 0.
    [[gnu::always_inline]] std::uint32_t insert(std::uint32_t unit) {
        if (sets_.ways() != 0) return line_of(sets_.insert(sets_.at(unit), word_of(unit, shared)));
        std::uint32_t victim = 0;
        if (filled_ < entries_) {
            victim = filled_++;
        } else {
            victim = least_recent();
            entry_of_[unit_[victim]] = 0;
        }
        const std::uint32_t out = std::exchange(unit_[victim], unit);
        const std::uint64_t now = ++clock_;
        used_at_[victim] = now;
        entry_of_[unit] = static_cast<std::uint8_t>(victim + 1);
        // The victim was the first, and is the last now.
        by_age_[oldest_] = {now, victim};
        oldest_ = next(oldest_);
        return out;
    }
    // Calls `visit(unit)` for every unit that is there.
    template <typename Visit>
    void each(Visit&& visit) const {
        for (const Word word : sets_.words())
            if (word != 0) visit(line_of(word));
        for (const std::uint32_t unit : unit_)
            if (unit != 0) visit(unit);
    }
    // Returns whether the unit was there.
    bool forget(std::uint32_t unit) {
        if (sets_.ways() != 0) {
            Word* set = sets_.at(unit);
            const int way = sets_.find(set, unit);
            if (way >= 0) sets_.remove(set, way);
            return way >= 0;
        }
        const std::uint8_t entry = entry_of_[unit];
        if (entry == 0) return false;
        entry_of_[unit] = 0;
        unit_[entry - 1u] = 0;  // unit 0 is never used: its entry can be cleared twice
        used_at_[entry - 1u] = 0;
        // Times only grow otherwise: a known time must not be later than the true time.
        put_first(entry - 1u);
        return true;
    }

  private:
    // Time when an entry was used, as far as known: hits make entries younger without an update
    // here.
    struct Known {
        std::uint64_t at;
        std::uint32_t entry;
    };

    std::uint32_t next(std::uint32_t i) const { return i + 1 < entries_ ? i + 1 : 0; }
    std::uint32_t previous(std::uint32_t i) const { return i > 0 ? i - 1 : entries_ - 1; }

    std::uint32_t middle() const {
        const std::uint32_t i = oldest_ + entries_ / 2;
        return i < entries_ ? i : i - entries_;
    }

    // The least recent entry of a full TLB. The entry that is first by the known times is the least
    // recent one if its time is true; otherwise it moves to its true place among the others,
    // searched from the nearer end.
    std::uint32_t least_recent() {
        for (;;) {
            const std::uint32_t entry = by_age_[oldest_].entry;
            const Known truth{used_at_[entry], entry};
            if (truth.at == by_age_[oldest_].at) return entry;
            std::uint32_t i = oldest_;
            if (truth.at < by_age_[middle()].at) {
                for (; by_age_[next(i)].at < truth.at; i = next(i)) by_age_[i] = by_age_[next(i)];
            } else {
                oldest_ = next(oldest_);
                for (; i != oldest_ && by_age_[previous(i)].at > truth.at; i = previous(i))
                    by_age_[i] = by_age_[previous(i)];
            }
            by_age_[i] = truth;
        }
    }
    void put_first(std::uint32_t entry) {
        // While the TLB is not full the entries are those from 0 on, and `oldest_` is after them.
        const std::uint32_t first = filled_ < entries_ ? 0 : oldest_;
        std::uint32_t i = first;
        while (by_age_[i].entry != entry) i = next(i);
        for (; i != first; i = previous(i)) by_age_[i] = by_age_[previous(i)];
        by_age_[first] = {0, entry};
    }

    SmallSets sets_;
    std::uint32_t entries_;          // where it is fully associative
    Zeroed<std::uint8_t> entry_of_;  // of a unit, plus one
    std::vector<std::uint32_t> unit_;
    std::vector<std::uint64_t> used_at_;
    std::vector<Known> by_age_;  // a ring in order of what is known, from `oldest_` on
    std::uint64_t clock_ = 0;
    std::uint32_t filled_ = 0, oldest_ = 0;
};

}  // namespace autofinity::sim
