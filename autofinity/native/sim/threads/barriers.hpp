// Barriers: no stream goes on before all have come.
#pragma once

#include <cstdint>
#include <vector>

#include "run_queues.hpp"
#include "sim/interfaces.hpp"
#include "sim/program/program.hpp"
#include "sim/replay/accesses.hpp"
#include "sim/replay/board.hpp"

namespace autofinity::sim {

class Barriers final : public Repeatable {
  public:
    Barriers(const Program& program, Board& board, Issue& issue, Accesses& accesses,
             RunQueues& run_queues)
        : program_(program),
          board_(board),
          issue_(issue),
          accesses_(accesses),
          run_queues_(run_queues),
          barriers_(program.barrier_objects.size()) {}

    // A stream has come to a barrier. Throws SimulationError when it expects other participants
    // than the first one did.
    void reach(Pu& p, Stream& s, const Step& step);
    // The stream waits there, idle; false unless it is the last one.
    bool wait(std::uint32_t pu, Stream& s, std::uint32_t barrier);
    // The stream waits there, and does other work in the meantime; returns the present generation.
    std::uint32_t join(Stream& s, std::uint32_t barrier);
    // Streams that have joined may go on, if all have.
    void release(std::uint32_t barrier, Ticks at);
    bool released(std::uint32_t barrier, std::uint32_t generation) const {
        return barriers_[barrier].generation != generation;
    }

    Line line_of(std::uint32_t barrier) const { return program_.first_barrier_line + barrier; }
    // Number of times that all streams have come to a barrier, so far.
    std::uint64_t releases() const { return releases_; }
    std::uint32_t expected(std::uint32_t barrier) const { return barriers_[barrier].expected; }
    std::size_t arrived(std::uint32_t barrier) const { return barriers_[barrier].waiting.size(); }

    void remember() override { barriers_at_start_ = barriers_; }
    void restore() override { barriers_ = barriers_at_start_; }
    void forget(const Process& process) override;

  private:
    struct Barrier {
        std::uint32_t expected = 0;
        std::uint32_t generation = 0;
        std::vector<std::uint32_t> waiting;
    };

    const Program& program_;
    Board& board_;
    Issue& issue_;
    Accesses& accesses_;
    RunQueues& run_queues_;
    std::vector<Barrier> barriers_, barriers_at_start_;
    std::uint64_t releases_ = 0;
};

}  // namespace autofinity::sim
