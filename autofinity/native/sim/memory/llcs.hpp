// Last-level caches: the arrays, and what has been asked of each. Which of them have a line the
// directory knows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pages.hpp"
#include "sets.hpp"
#include "sim/machine.hpp"
#include "sim/types.hpp"

namespace autofinity::sim {

class Llcs {
  public:
    Llcs(const MachineModel& machine, const Pages& pages)
        : pages_(pages),
          arrays_(machine.topology.llcs(), machine.llc.sets, machine.llc.ways),
          requests_(machine.topology.llcs()) {}

    std::uint32_t count() const { return arrays_.count(); }
    LlcRequests& requests(std::uint32_t llc) { return requests_[llc]; }
    const LlcRequests& requests(std::uint32_t llc) const { return requests_[llc]; }

    // Makes a line that is there the most recent one of its set.
    void touch(std::uint32_t llc, Line line) {
        Word* set = set_of(llc, line);
        const int way = arrays_.find(set, line);
        arrays_.to_front(set, way, set[way]);
    }
    // Puts a line in; returns its victim (0: none).
    [[gnu::always_inline]] Line insert(std::uint32_t llc, Line line) {
        return line_of(arrays_.insert(set_of(llc, line), word_of(line, shared)));
    }
    void remove(std::uint32_t llc, Line line) { arrays_.take_out(set_of(llc, line), line); }

    // Begins to bring the line's set into the host's caches; returns it.
    [[gnu::always_inline]] const Word* bring_near(std::uint32_t llc, Line line) const {
        const Word* set = set_of(llc, line);
        arrays_.bring_near(set);
        return set;
    }
    // The victim of what comes into the set next (0: none).
    Line victim(const Word* set) const { return line_of(arrays_.last_of(set)); }
    std::span<const Word> words(std::uint32_t llc) const { return arrays_.words(llc); }

  private:
    Word* set_of(std::uint32_t llc, Line line) const {
        return arrays_.at(llc, pages_.physical(line));
    }

    const Pages& pages_;
    const ArraysOfSets arrays_;
    std::vector<LlcRequests> requests_;
};

}  // namespace autofinity::sim
