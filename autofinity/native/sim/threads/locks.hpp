// Locks: each held by one stream, or by any number of readers. Waiting streams are served in order,
// except readers: they wait for a writer only, and come before waiting writers (glibc's default).
#pragma once

#include <cstdint>
#include <vector>

#include "run_queues.hpp"
#include "sim/interfaces.hpp"
#include "sim/program/program.hpp"
#include "sim/replay/accesses.hpp"
#include "sim/replay/board.hpp"
#include "tokens.hpp"

namespace autofinity::sim {

class Locks final : public Repeatable {
  public:
    Locks(const Program& program, Board& board, Issue& issue, Accesses& accesses,
          RunQueues& run_queues, Tokens& tokens)
        : program_(program),
          board_(board),
          issue_(issue),
          accesses_(accesses),
          run_queues_(run_queues),
          tokens_(tokens),
          locks_(program.lock_objects.size()) {}

    // False when the stream has to wait.
    bool take(std::uint32_t pu, Stream& s, const Step& step);
    // Throws SimulationError when the stream does not hold it.
    void release(Pu& p, Stream& s, const Step& step);

    // Holder of a lock, and the place where it was taken.
    struct Holder {
        std::uint32_t stream = nobody;
        std::uint32_t source = 0, step = 0;
    };
    // One holder of a lock that is held.
    const Holder& holder_of(std::uint32_t lock) const {
        const Lock& of = locks_[lock];
        return of.readers.empty() ? of.holder : of.readers.front();
    }

    void remember() override { locks_at_start_ = locks_; }
    void restore() override { locks_ = locks_at_start_; }
    void forget(const Process& process) override;

  private:
    struct Lock {
        Holder holder;
        std::uint32_t depth = 0;
        std::vector<Holder> readers;
        std::vector<std::uint32_t> waiters;
        std::uint32_t waiting_readers = 0;
    };

    // State of a lock's needs before it is taken.
    enum class Needs : std::uint8_t { met, waited, blocked };
    Needs meet_needs(std::uint32_t pu, Stream& s, const Step& step);
    void hold(Lock& lock, const Stream& s);
    void pass_on(Lock& lock, Ticks at);
    // The lock step that the stream has just taken, or waits in.
    static bool reads(const Stream& s) { return s.position.at[-1].with_readers(); }

    const Program& program_;
    Board& board_;
    Issue& issue_;
    Accesses& accesses_;
    RunQueues& run_queues_;
    Tokens& tokens_;
    std::vector<Lock> locks_, locks_at_start_;
};

}  // namespace autofinity::sim
