// Time and events of streams.
#pragma once

#include "board.hpp"
#include "sim/memory/memory.hpp"

namespace autofinity::sim {

class Accounting {
  public:
    Accounting(const MachineModel& machine, const Memory& memory, Board& board)
        : machine_(machine), memory_(memory), board_(board) {}

    // Adds the time of a stream up to `until`, by its present status; called before the status
    // changes.
    void account(Stream& s, Ticks until);
    void account_all(Ticks until);
    // The stream belongs to another PU from now on.
    void assign(Stream& s, std::uint32_t pu);

    // Counts of the stream from now on belong to the region.
    void begin_region(Stream& s, Ticks at);
    Counts since_region_began(const Stream& s, Ticks at) const;
    // Counts since the latest sample; from now on they belong to it.
    Counts take_sample(Stream& s, Ticks at);

  private:
    const LlcRequests& any_core(std::uint32_t pu) const {
        return memory_.any_core(machine_.topology.llc_of_core()[board_.pus[pu].core]);
    }
    Counts counts_of_clocks(const Stream& s, std::uint64_t done) const;
    Counts counts_at(const Stream& s, Ticks at) const;
    void settle_any_core(Stream& s);
    void settle_clocks(Stream& s);

    const MachineModel& machine_;
    const Memory& memory_;
    Board& board_;
};

}  // namespace autofinity::sim
