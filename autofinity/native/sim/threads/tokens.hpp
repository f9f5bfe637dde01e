// Tokens: posted once, and awaited by any number of streams.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "run_queues.hpp"
#include "sim/interfaces.hpp"
#include "sim/memory/memory.hpp"
#include "sim/program/program.hpp"
#include "sim/replay/board.hpp"

namespace autofinity::sim {

class Tokens final : public Repeatable {
  public:
    Tokens(const Program& program, const Memory& memory, Board& board, RunQueues& run_queues)
        : memory_(memory),
          board_(board),
          run_queues_(run_queues),
          now_{std::vector<Token>(program.tokens.size()), {}} {}

    bool posted(std::uint32_t token) const { return now_.tokens[token].core_plus_one != 0; }
    // Wakes the streams that wait for it.
    void post(const Pu& p, std::uint32_t token);
    // A stream sees a posted token, as soon as it has come from the posting core.
    void see(Pu& p, Stream& s, std::uint32_t token) const;
    // The stream is woken when the token is posted. `as`: choose where one of its frames waits,
    // retry where it waits itself, before a lock.
    void await(std::uint32_t token, std::uint32_t stream, Resume as) {
        now_.waiters[token].push_back({stream, as});
    }

    void remember() override { at_start_ = now_; }
    void restore() override { now_ = at_start_; }
    void forget(const Process& process) override;

  private:
    struct Token {
        Ticks posted_at = 0;
        std::uint32_t core_plus_one = 0;
    };
    struct Waiter {
        std::uint32_t stream;
        Resume as;
    };
    struct State {
        std::vector<Token> tokens;
        std::unordered_map<std::uint32_t, std::vector<Waiter>> waiters;
    };

    const Memory& memory_;
    Board& board_;
    RunQueues& run_queues_;
    State now_, at_start_;
};

}  // namespace autofinity::sim
