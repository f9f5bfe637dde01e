// Work units: chunks of loops, handed out in order to whoever is free; tasks, handed out once they
// have been created, oldest first, to whoever of the team waits for something.
//
// No deadlock among tasks. A stream that waits for a token or at its team's barrier is a worker: it
// takes a task that has been created and not begun, and goes back to any of its suspended positions
// whose token has come. Suppose nothing can go on, and look at the earliest event, in the order of
// the capture, that has not been replayed. What it needs came before it in the capture, so that it
// has been replayed: if the event is in a suspended position, that position can go on; if it is in
// a task that nobody has begun, the task has been created and a waiting stream takes it. Either
// contradicts the supposition, as long as no stream waits for a lock whose holder is suspended:
// OpenMP forbids to wait for tasks while holding one (5.2, section 15.9).
#include <algorithm>
#include <utility>

#include "sim/error.hpp"
#include "sim/replay/simulation.hpp"

namespace autofinity::sim {

// A stream comes to chunks of its own: it takes part, or goes past them when none is left.
bool Simulation::reach_units(std::uint32_t pu, Stream& s, const Unit& own) {
    const auto& steps = program_->streams[own.stream].steps;
    s.at = s.begin + (std::min<std::size_t>(own.last + 1, steps.size() - 1) - s.begin_at);
    if (own.task || !s.frames.empty()) return true;  // whoever is free takes it
    s.instance = own.instance;
    if (!unit_left(own.instance)) return true;
    suspend(s, Until::units_done, no_token);
    s.frames.back().repeat = own.last_of_stream;
    return choose(pu, s);
}

void Simulation::suspend(Stream& s, Until until, std::uint32_t object, std::uint32_t generation) {
    s.frames.push_back({s.at, s.begin, s.moved, s.begin_at, s.source, until, object, generation,
                        s.instance, false});
    if (until == Until::posted) token_waiters_[object].push_back({number_of(s), Resume::choose});
}

bool Simulation::may_resume(const Frame& frame) const {
    switch (frame.until) {
        case Until::posted:
            return tokens_[frame.object].core_plus_one != 0;
        case Until::released:
            return barriers_[frame.object].generation != frame.generation;
        default:
            return false;
    }
}

void Simulation::resume_frame(std::uint32_t pu, Stream& s, std::size_t index) {
    const Frame frame = s.frames[index];
    s.frames.erase(s.frames.begin() + static_cast<std::ptrdiff_t>(index));
    s.at = frame.at;
    s.begin = frame.begin;
    s.moved = frame.moved;
    s.begin_at = frame.begin_at;
    s.source = frame.source;
    s.instance = frame.instance;
    if (frame.until == Until::posted) {
        see_token(pus_[pu], s, tokens_[frame.object]);
        --s.resumable;
    } else if (frame.until == Until::released) {
        touch_sync_line(pus_[pu], s, program_->first_barrier_line + frame.object, false);
        --s.resumable;
    }
}

// Finds the stream something to go on with; false when it has to wait.
bool Simulation::choose(std::uint32_t pu, Stream& s) {
    for (std::size_t i = s.frames.size(); s.resumable != 0 && i-- > 0;) {
        if (!may_resume(s.frames[i])) continue;
        resume_frame(pu, s, i);
        return true;
    }
    const bool own_code = !s.frames.empty() && s.frames.back().until == Until::units_done;
    if (s.instance != nobody && unit_left(s.instance) && (!own_code || s.frames.back().repeat)) {
        begin_chunk(s);
        return true;
    }
    if (own_code) {
        resume_frame(pu, s, s.frames.size() - 1);
        return true;
    }
    if (s.frames.empty())
        throw SimulationError("malformed trace: " + where(s) + ": a work unit ends outside of one");
    if (take_task(s)) return true;
    s.resume = Resume::choose;
    if (!tasks_.empty()) idle_streams_.push_back(number_of(s));
    block(pu, s);
    return false;
}

bool Simulation::unit_left(std::uint32_t instance) const {
    return next_of_instance_[instance] < program_->instances[instance].units.size();
}

void Simulation::begin_chunk(Stream& s) {
    const Instance& instance = program_->instances[s.instance];
    begin_unit(s, program_->units[instance.units[next_of_instance_[s.instance]++]]);
}

void Simulation::begin_unit(Stream& s, const Unit& unit) {
    s.source = unit.stream;
    if (unit.own != no_token && unit.stream != number_of(s)) {
        s.moved = moved_steps(s, unit);
        s.foreseen = {};  // of steps that may have been at the same address
        s.begin = s.moved->data();
        s.begin_at = unit.first - 1;
    } else {
        s.moved.reset();
        s.begin = program_->streams[unit.stream].steps.data();
        s.begin_at = 0;
    }
    s.at = s.begin + (unit.first - s.begin_at);
}

// From the mark that begins the unit to what is looked at ahead of time after its end.
MovedSteps Simulation::moved_steps(const Stream& s, const Unit& unit) const {
    const auto& steps = program_->streams[unit.stream].steps;
    const auto at = [&](std::size_t step) {
        return steps.begin() + static_cast<std::ptrdiff_t>(std::min(step, steps.size()));
    };
    auto moved = std::make_shared<std::vector<Step>>(
        at(unit.first - 1), at(std::size_t{unit.last} + 1 + 1 + steps_foreseen));
    const Process& process = program_->processes[s.process];
    const Line own_line =
        process.first_own_line + (number_of(s) - process.first_stream) * process.own_lines;
    const std::uint32_t* place = &program_->own_places[unit.own];
    for (std::size_t i = 1; i <= unit.last - unit.first; ++i) {
        Step& step = (*moved)[i];
        if (step.is_access() && step.is_own_memory()) step.move_to(own_line + *place++);
    }
    return moved;
}

void Simulation::offer_task(std::uint32_t number, Ticks at) {
    const std::uint32_t instance = program_->units[number].instance;
    TaskQueue& tasks = tasks_[instance];
    if (tasks.first == tasks.created.size()) instances_with_tasks_.push_back(instance);
    tasks.created.push_back(number);
    ++tasks.unfinished;
    const auto& takers = program_->instances[instance].takers;
    const auto idle = std::find_if(idle_streams_.begin(), idle_streams_.end(),
                                   [&](std::uint32_t stream) { return takers[stream]; });
    if (idle != idle_streams_.end()) wake(*idle, at);
}

bool Simulation::take_task(Stream& s) {
    for (const std::uint32_t instance : instances_with_tasks_) {
        if (!program_->instances[instance].takers[number_of(s)]) continue;
        TaskQueue& tasks = tasks_[instance];
        const std::uint32_t number = tasks.created[tasks.first++];
        if (tasks.first == tasks.created.size()) {
            tasks.created.clear();
            tasks.first = 0;
            std::erase(instances_with_tasks_, instance);
        }
        s.instance = nobody;
        begin_unit(s, program_->units[number]);
        return true;
    }
    return false;
}

void Simulation::end_task(const Unit& unit, Ticks at) {
    const std::uint32_t barrier = program_->instances[unit.instance].barrier;
    if (--tasks_[unit.instance].unfinished == 0 && barrier != no_token)
        release_if_complete(barrier, at);
}

// A team's barrier lets nobody go before all have come and all tasks have ended.
void Simulation::release_if_complete(std::uint32_t number, Ticks at) {
    Barrier& barrier = barriers_[number];
    if (barrier.waiting.empty() || barrier.waiting.size() < barrier.expected ||
        tasks_[program_->instance_of_barrier[number]].unfinished != 0)
        return;
    ++barrier.generation;
    for (const std::uint32_t other : std::exchange(barrier.waiting, {})) {
        ++streams_[other].resumable;
        if (streams_[other].status == Status::blocked && streams_[other].resume == Resume::choose)
            wake(other, at);
    }
}

}  // namespace autofinity::sim
