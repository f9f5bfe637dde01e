// Bursts: several accesses to one line over a span of instructions, carried out at once and taken
// back in part when another core takes the line before the span is over.
#pragma once

#include "board.hpp"
#include "regions.hpp"
#include "sim/memory/memory.hpp"

namespace autofinity::sim {

class Bursts {
  public:
    Bursts(Memory& memory, Board& board, const Regions& regions)
        : memory_(memory), board_(board), regions_(regions) {}

    // The stream has carried out a burst that begins at this instruction.
    void remember(Stream& s, const Step& step, std::uint64_t at) {
        any_ = true;
        s.bursts.remember(step, at);
    }
    // Takes back accesses that were not due by `now` on lines that cores have lost since the last
    // call; without a time, when no PU has the turn.
    void split_lost(Ticks now);
    void split_lost();

  private:
    void take_back_from(std::uint32_t pu, const Lost& lost, Ticks now);
    std::uint64_t take_back(Stream& s, const Lost& lost, std::uint64_t here);

    Memory& memory_;
    Board& board_;
    const Regions& regions_;
    bool any_ = false;  // so far
};

}  // namespace autofinity::sim
