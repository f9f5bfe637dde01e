#include "deadlock.hpp"

namespace autofinity::sim {
namespace {

using trace::Kind;

std::string poster_of(const Program& program, std::uint32_t token) {
    for (std::uint32_t s = 0; s < program.streams.size(); ++s) {
        const auto& steps = program.streams[s].steps;
        for (std::uint32_t i = 0; i < steps.size(); ++i)
            if (steps[i].is(Kind::post) && steps[i].token() == token)
                return "stream " + std::to_string(s) + ", event " + std::to_string(i);
    }
    return "what follows the region";
}

// The reason why a stream waits.
class Reason {
  public:
    const Program& program;
    const Board& board;
    const Tokens& tokens;
    const Locks& locks;
    const Barriers& barriers;

    std::string of(const Stream& s) const {
        switch (s.resume) {
            case Resume::take_lock:
                return board.where(s) + held(s.resume_line - program.first_lock_line);
            case Resume::leave_barrier:
                return board.where(s) + unreleased(s.resume_line - program.first_barrier_line);
            case Resume::retry:
                return before_lock(s);
            default:
                return s.units.frames.empty() ? board.where(s) : of(s, s.units.frames.back());
        }
    }

  private:
    std::string of(const Stream& s, const Frame& frame) const {
        return board.where(s, frame.position.source, frame.position.place() - 1) +
               (frame.until == Until::posted ? unposted(frame.object) : unreleased(frame.object));
    }
    // Before a lock whose section needs a token.
    std::string before_lock(const Stream& s) const {
        const Step& step = *s.position.at;
        for (const std::uint32_t token : program.lock_needs[step.needs()])
            if (!tokens.posted(token))
                return board.where(s, s.position.source, s.position.place()) + lock(step.lock()) +
                       unposted(token);
        return board.where(s);
    }
    std::string lock(std::uint32_t number) const {
        return ": lock of " + std::to_string(program.lock_objects[number]);
    }
    std::string held(std::uint32_t number) const {
        const Locks::Holder& by = locks.holder_of(number);
        return lock(number) + ", held by " +
               board.where(board.streams[by.stream], by.source, by.step);
    }
    std::string unreleased(std::uint32_t barrier) const {
        return ": barrier " + std::to_string(program.barrier_objects[barrier]) + ", " +
               std::to_string(barriers.arrived(barrier)) + " of " +
               std::to_string(barriers.expected(barrier)) + " have arrived";
    }
    std::string unposted(std::uint32_t token) const {
        return ": await of token " + std::to_string(program.tokens[token]) + " of " +
               poster_of(program, token);
    }
};

}  // namespace

std::string deadlock_text(const Program& program, const Board& board, const Tokens& tokens,
                          const Locks& locks, const Barriers& barriers) {
    const Reason reason{program, board, tokens, locks, barriers};
    std::string text = "the replay is deadlocked:";
    int listed = 0, more = 0;
    for (const Stream& s : board.streams) {
        if (s.status != Status::blocked) continue;
        if (listed == 8) {
            ++more;
            continue;
        }
        text += (listed++ == 0 ? " " : "; ") + reason.of(s);
    }
    if (more != 0) text += "; and " + std::to_string(more) + " more";
    return text;
}

}  // namespace autofinity::sim
