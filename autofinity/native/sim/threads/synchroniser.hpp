// What streams wait for each other at: locks, barriers, tokens and work units.
#pragma once

#include <cstdint>

#include "barriers.hpp"
#include "locks.hpp"
#include "sim/interfaces.hpp"
#include "sim/program/program.hpp"
#include "sim/replay/accesses.hpp"
#include "sim/replay/board.hpp"
#include "tokens.hpp"
#include "work_units.hpp"

namespace autofinity::sim {

class Synchroniser final : public Repeatable {
  public:
    Synchroniser(const Program& program, const Memory& memory, Board& board, Issue& issue,
                 Accesses& accesses, RunQueues& run_queues);

    // Carries out a step of synchronisation, which the stream has taken; false when it has to wait.
    bool carry_out(std::uint32_t pu, Stream& s, const Step& step);
    // The first thing that a woken stream does; false when it has to wait again.
    bool resume(std::uint32_t pu, Stream& s);
    // Whether a stream begins with the await of its creation, which is still to come.
    bool awaits_creation(const Stream& s) const;
    void await_creation(Stream& s, Ticks at);
    // Barriers that all have come to, each time, so far.
    std::uint64_t barrier_releases() const { return barriers_.releases(); }
    // Throws SimulationError saying who waits for what.
    [[noreturn]] void deadlock() const;

    void remember() override;
    void restore() override;
    void forget(const Process& process) override;

  private:
    const Program& program_;
    Board& board_;
    Issue& issue_;
    Accesses& accesses_;
    Tokens tokens_;
    Locks locks_;
    Barriers barriers_;
    WorkUnits units_;
};

}  // namespace autofinity::sim
