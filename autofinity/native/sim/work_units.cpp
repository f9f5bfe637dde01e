// Work units (loop chunks), handed out by simulated time.
#include <algorithm>

#include "error.hpp"
#include "simulation.hpp"

namespace autofinity::sim {

// A stream comes to work units of its own: it takes part, or goes past them when none is left.
bool Simulation::reach_units(std::uint32_t pu, Stream& s, const Unit& own) {
    const auto& steps = program_->streams[own.stream].steps;
    const Step* after = &steps[std::min<std::size_t>(own.last + 1, steps.size() - 1)];
    s.at = after;
    if (!s.frames.empty()) return true;  // inside another unit: whoever is free takes it
    s.instance = own.instance;
    if (!unit_left(own.instance)) return true;
    s.frames.push_back({after, s.begin, s.source, no_token, own.instance, own.last_of_stream});
    if (unit_ready(own.instance)) {
        begin_unit(s);
        return true;
    }
    return choose(pu, s);
}

void Simulation::resume_frame(Stream& s, std::size_t index) {
    const Frame frame = s.frames[index];
    s.frames.erase(s.frames.begin() + static_cast<std::ptrdiff_t>(index));
    s.at = frame.at;
    s.begin = frame.begin;
    s.source = frame.source;
    s.instance = frame.instance;
}

// Finds the stream something to go on with; false when it has to wait.
bool Simulation::choose(std::uint32_t pu, Stream& s) {
    for (std::size_t i = s.frames.size(); i-- > 0;) {
        const std::uint32_t number = s.frames[i].token;
        if (number == no_token || tokens_[number].core_plus_one == 0) continue;
        resume_frame(s, i);
        see_token(pus_[pu], s, tokens_[number]);
        return true;
    }
    const bool own_code = !s.frames.empty() && s.frames.back().token == no_token;
    const bool more =
        s.instance != nobody && unit_left(s.instance) && (!own_code || s.frames.back().repeat);
    if (more && unit_ready(s.instance)) {
        begin_unit(s);
        return true;
    }
    if (own_code && !more) {
        resume_frame(s, s.frames.size() - 1);
        return true;
    }
    if (s.frames.empty())
        throw SimulationError("malformed trace: " + where(s) + ": a work unit ends outside of one");
    std::uint32_t waits_for = no_token;
    for (const Frame& frame : s.frames)
        if (frame.token != no_token) {
            waits_for = frame.token;
            token_waiters_[waits_for].push_back(number_of(s));
        }
    if (more) {
        const std::uint32_t created = next_unit(s.instance).created;
        token_waiters_[created].push_back(number_of(s));
        if (waits_for == no_token) waits_for = created;
    }
    s.resume = Resume::choose;
    block(pu, s, waits_for);
    return false;
}

bool Simulation::unit_left(std::uint32_t instance) const {
    return next_of_instance_[instance] < program_->instances[instance].units.size();
}

const Unit& Simulation::next_unit(std::uint32_t instance) const {
    return program_->units[program_->instances[instance].units[next_of_instance_[instance]]];
}

// Whether the next unit in order exists already (a task: its creator has posted its token).
bool Simulation::unit_ready(std::uint32_t instance) const {
    if (!unit_left(instance)) return false;
    const std::uint32_t created = next_unit(instance).created;
    return created == no_token || tokens_[created].core_plus_one != 0;
}

void Simulation::begin_unit(Stream& s) {
    const Unit& unit = next_unit(s.instance);
    ++next_of_instance_[s.instance];
    s.source = unit.stream;
    s.begin = program_->streams[unit.stream].steps.data();
    s.at = s.begin + unit.first;
}

}  // namespace autofinity::sim
