// What a replay from a private stage notes of each line for one core, besides what the directory
// knows: a byte, for an access asks for most of it.
#pragma once

#include <cstdint>

#include "program.hpp"
#include "zeroed.hpp"

namespace autofinity::sim {

enum class Note : std::uint8_t {
    // The prefetcher has brought the line into the L2, and nobody has asked for it since.
    brought = 1,
    // Of lines that others use: the stage has it in the L1; the stage's L1 has given it up since it
    // was asked for last.
    in_l1 = 2,
    left_l1 = 4,
    // The L1 has not given up yet what is left of the line since it was lost.
    remains = 8,
    // Of the L2 (l2_holes.hpp): the stage has the line there, which is not; it would have left.
    missing = 16,
    stays = 32,
};

class LineNotes {
  public:
    explicit LineNotes(std::size_t lines) : notes_(lines) {}

    bool has(Line line, Note note) const { return (notes_[line] & bit(note)) != 0; }
    bool has_any(Line line, Note a, Note b) const {
        return (notes_[line] & (bit(a) | bit(b))) != 0;
    }
    void add(Line line, Note note) { notes_[line] |= bit(note); }
    void remove(Line line, Note note) { notes_[line] &= without(note); }
    // Removes it; returns whether it was there.
    bool take(Line line, Note note) {
        const bool there = has(line, note);
        remove(line, note);
        return there;
    }
    void replace(Line line, Note old, Note by) {
        notes_[line] = static_cast<std::uint8_t>((notes_[line] & without(old)) | bit(by));
    }

  private:
    static constexpr std::uint8_t bit(Note note) { return static_cast<std::uint8_t>(note); }
    static constexpr std::uint8_t without(Note note) {
        return static_cast<std::uint8_t>(~bit(note));
    }

    Zeroed<std::uint8_t> notes_;
};

}  // namespace autofinity::sim
