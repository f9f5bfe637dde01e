// Last-level caches: the arrays, and the requests to each. The directory knows which of them have a
// line. A line's place is its number in physical memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sets.hpp"
#include "sim/machine.hpp"
#include "sim/types.hpp"

namespace autofinity::sim {

class Llcs {
  public:
    explicit Llcs(const MachineModel& machine)
        : arrays_(machine.topology.llcs(), machine.llc.sets, machine.llc.ways),
          requests_(machine.topology.llcs()) {}

    std::uint32_t count() const { return arrays_.count(); }
    std::uint32_t sets() const { return arrays_.sets(); }
    std::uint32_t ways() const { return arrays_.ways(); }
    LlcRequests& requests(std::uint32_t llc) { return requests_[llc]; }
    const LlcRequests& requests(std::uint32_t llc) const { return requests_[llc]; }

    void forget_requests() { requests_.assign(requests_.size(), {}); }

    // Makes a present line the most recent one of its set.
    void touch(std::uint32_t llc, Line line, std::uint32_t place) {
        Word* set = arrays_.at(llc, place);
        const int way = arrays_.find(set, line);
        arrays_.to_front(set, way, set[way]);
    }
    // Inserts a line; returns its victim (0: none).
    [[gnu::always_inline]] Line insert(std::uint32_t llc, Line line, std::uint32_t place) {
        return line_of(arrays_.insert(arrays_.at(llc, place), word_of(line, shared)));
    }
    void remove(std::uint32_t llc, Line line, std::uint32_t place) {
        arrays_.take_out(arrays_.at(llc, place), line);
    }

    // Ways of a set that are empty.
    std::uint32_t empty_ways(std::uint32_t llc, std::uint32_t set) const {
        const Word* const words = arrays_.at(llc, set);
        std::uint32_t empty = 0;
        while (empty < ways() && words[ways() - 1 - empty] == 0) ++empty;
        return empty;
    }
    // Removes the least recent line of a set; 0: the set is empty.
    Line remove_last(std::uint32_t llc, std::uint32_t set) {
        const std::uint32_t empty = empty_ways(llc, set);
        if (empty == ways()) return 0;
        return line_of(arrays_.remove(arrays_.at(llc, set), static_cast<int>(ways() - 1 - empty)));
    }

    // Begins to prefetch the set of a place into the host's caches; returns it.
    [[gnu::always_inline]] const Word* bring_near(std::uint32_t llc, std::uint32_t place) const {
        const Word* set = arrays_.at(llc, place);
        arrays_.bring_near(set);
        return set;
    }
    // The victim of the next insertion into the set (0: none).
    Line victim(const Word* set) const { return line_of(arrays_.last_of(set)); }
    std::span<const Word> words(std::uint32_t llc) const { return arrays_.words(llc); }

  private:
    const ArraysOfSets arrays_;
    std::vector<LlcRequests> requests_;
};

}  // namespace autofinity::sim
