// Who waits for what, in words.
#include <string>

#include "sim/error.hpp"
#include "sim/replay/simulation.hpp"

namespace autofinity::sim {

using trace::Kind;

std::string Simulation::where(const Stream& s, std::uint32_t source, std::ptrdiff_t step) const {
    const std::uint32_t number = number_of(s);
    std::string text = "stream " + std::to_string(number);
    if (source != number) text += " (in a work unit of stream " + std::to_string(source) + ")";
    return text + ", event " + std::to_string(step);
}

std::string Simulation::poster_of(std::uint32_t token) const {
    for (std::uint32_t s = 0; s < program_->streams.size(); ++s) {
        const auto& steps = program_->streams[s].steps;
        for (std::uint32_t i = 0; i < steps.size(); ++i)
            if (steps[i].is(Kind::post) && steps[i].token() == token)
                return "stream " + std::to_string(s) + ", event " + std::to_string(i);
    }
    return "what follows the region";
}

std::string Simulation::what_blocks(const Stream& s) const {
    const auto barrier_text = [&](std::uint32_t barrier) {
        return ": barrier " + std::to_string(program_->barrier_objects[barrier]) + ", " +
               std::to_string(barriers_[barrier].waiting.size()) + " of " +
               std::to_string(barriers_[barrier].expected) + " have arrived";
    };
    const auto token_text = [&](std::uint32_t token) {
        return ": await of token " + std::to_string(program_->tokens[token]) + " of " +
               poster_of(token);
    };
    if (s.resume == Resume::take_lock) {
        const std::uint32_t number = s.resume_line - program_->first_lock_line;
        const Lock& lock = locks_[number];
        const Holder& by = lock.readers.empty() ? lock.holder : lock.readers.front();
        return where(s) + ": lock of " + std::to_string(program_->lock_objects[number]) +
               ", held by " + where(streams_[by.stream], by.source, by.step);
    }
    if (s.resume == Resume::leave_barrier)
        return where(s) + barrier_text(s.resume_line - program_->first_barrier_line);
    if (s.resume == Resume::retry) {
        // Before a lock whose section needs a token.
        for (const std::uint32_t token : program_->lock_needs[s.at->needs()])
            if (tokens_[token].core_plus_one == 0)
                return where(s, s.source, place_of(s)) + ": lock of " +
                       std::to_string(program_->lock_objects[s.at->lock()]) + token_text(token);
    }
    if (s.frames.empty()) return where(s);
    const Frame& frame = s.frames.back();
    const std::string place = where(s, frame.source, place_of(frame) - 1);
    return place +
           (frame.until == Until::posted ? token_text(frame.object) : barrier_text(frame.object));
}

void Simulation::deadlock() const {
    std::string text = "the replay is deadlocked:";
    int listed = 0, more = 0;
    for (const Stream& s : streams_) {
        if (s.status != Status::blocked) continue;
        if (listed == 8) {
            ++more;
            continue;
        }
        text += (listed++ == 0 ? " " : "; ") + what_blocks(s);
    }
    if (more != 0) text += "; and " + std::to_string(more) + " more";
    throw SimulationError(text);
}

}  // namespace autofinity::sim
