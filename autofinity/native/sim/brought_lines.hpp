// Lines that a core's prefetcher has brought into its L2 and that nobody has asked for since.
#pragma once

#include "program.hpp"
#include "zeroed.hpp"

namespace autofinity::sim {

// Of one core, in a replay from a private stage: its arrays would tell that such a line is not in
// the L1. What the prefetcher itself knows of arrivals is as forgetful as a prefetcher.
class BroughtLines {
  public:
    explicit BroughtLines(std::size_t lines) : words_((lines + 63) / 64) {}

    bool has(Line line) const { return (words_[line / 64] & bit(line)) != 0; }
    void add(Line line) { words_[line / 64] |= bit(line); }
    void remove(Line line) { words_[line / 64] &= ~bit(line); }

  private:
    static std::uint64_t bit(Line line) { return std::uint64_t{1} << line % 64; }

    Zeroed<std::uint64_t> words_;
};

}  // namespace autofinity::sim
