// Who waits for what, in words.
#include <string>

#include "error.hpp"
#include "simulation.hpp"

namespace autofinity::sim {

// The step before `at`: the one under way.
std::string Simulation::where(const Stream& s) const {
    std::string text = "stream " + std::to_string(number_of(s));
    if (s.source != number_of(s))
        text += " (in a work unit of stream " + std::to_string(s.source) + ")";
    return text + ", event " + std::to_string(s.at - s.begin - 1);
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
        text += (listed++ == 0 ? " " : "; ") + where(s);
        if (s.resume == Resume::take_lock) {
            const std::uint32_t lock = s.resume_line - program_->first_lock_line;
            text += ": lock of " + std::to_string(program_->lock_objects[lock]) +
                    ", held by stream " + std::to_string(locks_[lock].holder);
        } else if (s.resume == Resume::leave_barrier) {
            const std::uint32_t barrier = s.resume_line - program_->first_barrier_line;
            text += ": barrier " + std::to_string(program_->barrier_objects[barrier]) + ", " +
                    std::to_string(barriers_[barrier].waiting.size()) + " of " +
                    std::to_string(barriers_[barrier].expected) + " have arrived";
        } else {
            text += ": await of token " + std::to_string(program_->tokens[s.waits_for]);
        }
    }
    if (more != 0) text += "; and " + std::to_string(more) + " more";
    throw SimulationError(text);
}

}  // namespace autofinity::sim
