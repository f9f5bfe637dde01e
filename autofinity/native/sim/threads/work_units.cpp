#include "work_units.hpp"

#include <algorithm>

#include "sim/error.hpp"

namespace autofinity::sim {

bool WorkUnits::reach(std::uint32_t pu, Stream& s, const Unit& own) {
    const auto& steps = program_.streams[own.stream].steps;
    s.position.go_to(std::min<std::size_t>(own.last + 1, steps.size() - 1));
    if (own.task || !s.units.frames.empty()) return true;  // any free stream takes it
    s.units.instance = own.instance;
    if (!chunk_left(own.instance)) return true;
    suspend(s, Until::units_done, no_token);
    s.units.frames.back().repeat = own.last_of_stream;
    return choose(pu, s);
}

bool WorkUnits::end(std::uint32_t pu, Stream& s, const Unit& unit) {
    ++s.account.counts[units_executed];
    if (unit.in_place) return true;
    const std::uint32_t barrier = program_.instances[unit.instance].barrier;
    if (unit.task && tasks_.end(unit) && barrier != no_token)
        release_if_complete(barrier, board_.pus[pu].time);
    return choose(pu, s);
}

bool WorkUnits::await(std::uint32_t pu, Stream& s, std::uint32_t token) {
    ++s.account.counts[await_waits];
    suspend(s, Until::posted, token);
    return choose(pu, s);
}

void WorkUnits::join_barrier(const Pu& p, Stream& s, std::uint32_t barrier) {
    const std::uint32_t generation = barriers_.join(s, barrier);
    suspend(s, Until::released, barrier, generation);
    release_if_complete(barrier, p.time);
    s.resume = Resume::choose;  // after the access to the line
    board_.yield = true;
}

// A team's barrier releases no thread before all have come and all tasks have ended.
void WorkUnits::release_if_complete(std::uint32_t barrier, Ticks at) {
    if (tasks_.all_ended(program_.instance_of_barrier[barrier])) barriers_.release(barrier, at);
}

void WorkUnits::posted(std::uint32_t token, Ticks at) {
    const std::uint32_t task = program_.task_of_token[token];
    if (task == no_token) return;
    tasks_.add(task);
    const auto& takers = program_.instances[program_.units[task].instance].takers;
    const std::uint32_t idle = run_queues_.first_idle([&](std::uint32_t s) { return takers[s]; });
    if (idle != nobody) run_queues_.wake(idle, at);
}

void WorkUnits::suspend(Stream& s, Until until, std::uint32_t object, std::uint32_t generation) {
    s.units.frames.push_back({s.position, until, object, generation, s.units.instance, false});
    if (until == Until::posted) tokens_.await(object, board_.number_of(s), Resume::choose);
}

bool WorkUnits::may_resume(const Frame& frame) const {
    switch (frame.until) {
        case Until::posted:
            return tokens_.posted(frame.object);
        case Until::released:
            return barriers_.released(frame.object, frame.generation);
        default:
            return false;
    }
}

void WorkUnits::resume_frame(std::uint32_t pu, Stream& s, std::size_t index) {
    const Frame frame = s.units.frames[index];
    s.units.frames.erase(s.units.frames.begin() + static_cast<std::ptrdiff_t>(index));
    s.position = frame.position;
    s.units.instance = frame.instance;
    if (frame.until == Until::units_done) return;
    --s.units.resumable;
    if (frame.until == Until::posted)
        tokens_.see(board_.pus[pu], s, frame.object);
    else
        accesses_.touch(board_.pus[pu], s, barriers_.line_of(frame.object), false);
}

bool WorkUnits::choose(std::uint32_t pu, Stream& s) {
    auto& frames = s.units.frames;
    for (std::size_t i = frames.size(); s.units.resumable != 0 && i-- > 0;) {
        if (!may_resume(frames[i])) continue;
        resume_frame(pu, s, i);
        return true;
    }
    const std::uint32_t instance = s.units.instance;
    const bool own_code = !frames.empty() && frames.back().until == Until::units_done;
    if (instance != nobody && chunk_left(instance) && (!own_code || frames.back().repeat)) {
        const auto& chunks = program_.instances[instance].units;
        begin(s, program_.units[chunks[next_of_instance_[instance]++]]);
        return true;
    }
    if (own_code) {
        resume_frame(pu, s, frames.size() - 1);
        return true;
    }
    if (frames.empty())
        throw SimulationError("malformed trace: " + board_.where(s) +
                              ": a work unit ends outside of one");
    if (const std::uint32_t task = tasks_.take(board_.number_of(s)); task != no_token) {
        s.units.instance = nobody;
        begin(s, program_.units[task]);
        return true;
    }
    s.resume = Resume::choose;
    run_queues_.block(pu, s);
    return false;
}

void WorkUnits::begin(Stream& s, const Unit& unit) {
    Position& position = s.position;
    position.source = unit.stream;
    if (unit.own != no_token && unit.stream != board_.number_of(s)) {
        position.moved = moved_steps(s, unit);
        s.foreseen = {};  // of steps that may have been at the same address
        position.begin = position.moved->data();
        position.begin_at = unit.first - 1;
    } else {
        position.moved.reset();
        position.begin = program_.streams[unit.stream].steps.data();
        position.begin_at = 0;
    }
    position.go_to(unit.first);
}

// The steps from the mark that begins the unit to those looked up ahead of time after its end.
MovedSteps WorkUnits::moved_steps(const Stream& s, const Unit& unit) const {
    const auto& steps = program_.streams[unit.stream].steps;
    const auto at = [&](std::size_t step) {
        return steps.begin() + static_cast<std::ptrdiff_t>(std::min(step, steps.size()));
    };
    auto moved = std::make_shared<std::vector<Step>>(
        at(unit.first - 1), at(std::size_t{unit.last} + 1 + 1 + steps_foreseen));
    const Process& process = program_.processes[s.process];
    const Line own_line =
        process.first_own_line + (board_.number_of(s) - process.first_stream) * process.own_lines;
    const std::uint32_t* place = &program_.own_places[unit.own];
    for (std::size_t i = 1; i <= unit.last - unit.first; ++i) {
        Step& step = (*moved)[i];
        if (step.is_access() && step.is_own_memory()) step.move_to(own_line + *place++);
    }
    return moved;
}

void WorkUnits::remember() {
    tasks_.remember();
    next_at_start_ = next_of_instance_;
}

void WorkUnits::restore() {
    tasks_.restore();
    next_of_instance_ = next_at_start_;
}

void WorkUnits::forget(const Process& process) {
    tasks_.forget(process);
    for (std::uint32_t i = process.first_instance; i < process.first_instance + process.instances;
         ++i)
        next_of_instance_[i] = 0;
}

}  // namespace autofinity::sim
