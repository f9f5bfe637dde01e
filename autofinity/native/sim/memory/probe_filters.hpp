// Probe filters: a directory of finite size at each home node. A line that any cache holds has an
// entry there; when an entry is replaced, all copies of its line are invalidated.
//
// Caches report every dropped line to the filter, so no entry outlives its copies (real filters get
// reports of dirty victims only and keep stale entries for the clean ones).
#pragma once

#include <algorithm>
#include <cstdint>

#include "sets.hpp"
#include "sim/machine.hpp"
#include "sim/types.hpp"

namespace autofinity::sim {

// A line's place is its number in physical memory.
class ProbeFilters {
  public:
    explicit ProbeFilters(const MachineModel& machine)
        : arrays_(machine.directory.ways != 0 ? machine.topology.nodes() : 0,
                  std::max(machine.directory.sets, 1u), machine.directory.ways) {}

    // Whether there are filters; otherwise directories are unlimited.
    bool present() const { return arrays_.count() != 0; }
    // Whether the line has an entry.
    bool tracks(Line line, std::uint32_t home, std::uint32_t place) const {
        return arrays_.find(arrays_.at(home, place), line) >= 0;
    }
    // Gives the line an entry; returns the line that loses its own entry (0: none). `held`: some
    // cache has the line, so it has an entry.
    [[gnu::always_inline]] Line track(Line line, std::uint32_t home, std::uint32_t place,
                                      bool held) {
        Word* set = arrays_.at(home, place);
        if (held)
            if (const int way = arrays_.find(set, line); way >= 0) {
                arrays_.to_front(set, way, set[way]);
                return 0;
            }
        return line_of(arrays_.insert(set, word_of(line, shared)));
    }
    // All caches have dropped the line.
    [[gnu::always_inline]] void untrack(Line line, std::uint32_t home, std::uint32_t place) {
        arrays_.take_out(arrays_.at(home, place), line);
    }

    // Begins to prefetch the set of a place into the host's caches; returns it.
    [[gnu::always_inline]] const Word* bring_near(std::uint32_t home, std::uint32_t place) const {
        const Word* const set = arrays_.at(home, place);
        arrays_.bring_near(set);
        return set;
    }
    // The line that loses its entry at the next insertion into the set (0: none).
    Line victim(const Word* set) const { return line_of(arrays_.last_of(set)); }

  private:
    const ArraysOfSets arrays_;
};

}  // namespace autofinity::sim
