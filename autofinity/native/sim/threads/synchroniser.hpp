// Objects at which streams wait for each other: locks, barriers, tokens and work units.
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

    // Carries out a step of synchronisation that the stream has taken; false when it has to wait.
    bool carry_out(std::uint32_t pu, Stream& s, const Step& step);
    // The first action of a woken stream; false when it has to wait again.
    bool resume(std::uint32_t pu, Stream& s);
    // Whether a stream begins with the await of its creation, which is still to come.
    bool awaits_creation(const Stream& s) const;
    void await_creation(Stream& s, Ticks at);
    // Number of barrier releases so far.
    std::uint64_t barrier_releases() const { return barriers_.releases(); }
    // Throws SimulationError, which lists the waits of all streams.
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
