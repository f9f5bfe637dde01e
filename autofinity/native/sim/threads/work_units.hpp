// Work units: chunks of loops, assigned in order to any free stream; tasks, assigned after their
// creation, oldest first, to any waiting stream of the team. A unit that waits is put aside, and
// its stream goes on with another unit, or with one put aside earlier.
//
// No deadlock among tasks. A stream that waits for a token or at its team's barrier is a worker: it
// takes a task that has been created and not begun, and goes back to any of its suspended positions
// whose token has come. Suppose no stream can go on, and consider the earliest event, in the order
// of the capture, that has not been replayed. The events that it needs came before it in the
// capture, so they have been replayed: if the event is in a suspended position, that position can
// go on; if it is in a task that no stream has begun, the task has been created and a waiting
// stream takes it. Either contradicts the supposition, as long as no stream waits for a lock whose
// holder is suspended: OpenMP forbids to wait for tasks while holding one (5.2, section 15.9).
#pragma once

#include <cstdint>
#include <vector>

#include "barriers.hpp"
#include "run_queues.hpp"
#include "sim/interfaces.hpp"
#include "sim/program/program.hpp"
#include "sim/replay/accesses.hpp"
#include "sim/replay/board.hpp"
#include "tasks.hpp"
#include "tokens.hpp"

namespace autofinity::sim {

class WorkUnits final : public Repeatable {
  public:
    WorkUnits(const Program& program, Board& board, Accesses& accesses, RunQueues& run_queues,
              Tokens& tokens, Barriers& barriers)
        : program_(program),
          board_(board),
          accesses_(accesses),
          run_queues_(run_queues),
          tokens_(tokens),
          barriers_(barriers),
          tasks_(program),
          next_of_instance_(program.instances.size(), 0) {}

    // A stream comes to chunks of its own: it takes part, or passes them when none is left. This
    // function, like `end` and `await`, is false when the stream has to wait.
    bool reach(std::uint32_t pu, Stream& s, const Unit& own);
    bool end(std::uint32_t pu, Stream& s, const Unit& unit);
    // Goes on with something else until the token has been posted.
    bool await(std::uint32_t pu, Stream& s, std::uint32_t token);
    void suspend(Stream& s, std::uint32_t token) { suspend(s, Until::posted, token); }
    // The same at the barrier of its team, which the stream has come to.
    void join_barrier(const Pu& p, Stream& s, std::uint32_t barrier);
    // Finds the stream something to go on with; false when it has to wait.
    bool choose(std::uint32_t pu, Stream& s);
    // Notes the task that a post of a token creates, if any.
    void posted(std::uint32_t token, Ticks at);

    void remember() override;
    void restore() override;
    void forget(const Process& process) override;

  private:
    void suspend(Stream& s, Until until, std::uint32_t object, std::uint32_t generation = 0);
    bool may_resume(const Frame& frame) const;
    void resume_frame(std::uint32_t pu, Stream& s, std::size_t index);
    bool chunk_left(std::uint32_t instance) const {
        return next_of_instance_[instance] < program_.instances[instance].units.size();
    }
    void begin(Stream& s, const Unit& unit);
    MovedSteps moved_steps(const Stream& s, const Unit& unit) const;
    void release_if_complete(std::uint32_t barrier, Ticks at);

    const Program& program_;
    Board& board_;
    Accesses& accesses_;
    RunQueues& run_queues_;
    Tokens& tokens_;
    Barriers& barriers_;
    Tasks tasks_;
    std::vector<std::size_t> next_of_instance_, next_at_start_;  // chunks
};

}  // namespace autofinity::sim
