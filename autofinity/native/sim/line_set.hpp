// A set of lines, a bit each.
#pragma once

#include "program.hpp"
#include "zeroed.hpp"

namespace autofinity::sim {

class LineSet {
  public:
    explicit LineSet(std::size_t lines) : words_((lines + 63) / 64) {}

    bool has(Line line) const { return (words_[line / 64] & bit(line)) != 0; }
    void add(Line line) { words_[line / 64] |= bit(line); }
    void remove(Line line) { words_[line / 64] &= ~bit(line); }

  private:
    static std::uint64_t bit(Line line) { return std::uint64_t{1} << line % 64; }

    Zeroed<std::uint64_t> words_;
};

}  // namespace autofinity::sim
