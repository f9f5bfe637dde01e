// Processes: when they begin, their regions of interest, and what becomes of them afterwards.
#include <algorithm>

#include "sim/error.hpp"
#include "simulation.hpp"

namespace autofinity::sim {

using trace::Kind;

void Simulation::start_due_processes(Ticks at) {
    next_start_ = forever;
    for (std::uint32_t process = 0; process < runs_.size(); ++process) {
        ProcessRun& run = runs_[process];
        if (run.started) continue;
        if (run.start.after_previous && !runs_[process - 1].ended) continue;
        if (run.start.after_previous || run.start.at <= at)
            start_process(process, at);
        else
            next_start_ = std::min(next_start_, run.start.at);
    }
    set_stop();
}

void Simulation::start_process(std::uint32_t process, Ticks at) {
    ProcessRun& run = runs_[process];
    const Process& of = streams_of(process);
    run.started = true;
    run.live = of.streams;
    if (!of.has_roi && !run.in_region) begin_region(process, at);
    for (std::uint32_t i = of.first_stream; i < of.first_stream + of.streams; ++i)
        start_stream(i, at);
}

// A captured thread begins with an await of its creation and takes no PU before that.
void Simulation::start_stream(std::uint32_t number, Ticks at) {
    Stream& s = streams_[number];
    s.at = s.begin = program_->streams[number].steps.data();
    s.source = number;
    s.accounted = std::max(s.accounted, at);
    const Step* first = s.at + 1;
    if (!s.at->is(Kind::thread_begin) || !first->is(Kind::await) ||
        tokens_[first->token()].core_plus_one != 0) {
        wake(number, at);
        return;
    }
    for (; s.at <= first; ++s.at) s.instructions += s.at->gap();
    ++s.counts[await_waits];
    suspend(s, Until::posted, first->token());
    s.resume = Resume::choose;
    s.status = Status::blocked;
    s.blocked_at = at;
}

void Simulation::begin_region(std::uint32_t process, Ticks at) {
    ProcessRun& run = runs_[process];
    const Process& of = streams_of(process);
    yield_ = true;
    if (run.in_region) return;  // it has begun again
    run.in_region = true;
    run.region_start = at;
    for (std::uint32_t i = of.first_stream; i < of.first_stream + of.streams; ++i) {
        Stream& s = streams_[i];
        account(s, at);
        settle_any_core(s);
        s.sampled = s.baseline = counts_at(s, at);
        run.done_before += s.instructions;
    }
    if (repeats_left_ != 0 && of.has_roi) remember_start();
    if (in_region_) return;
    in_region_ = true;
    overhead_ = {};
    if (detection_) detection_->take_triggers();
    region_start_ = last_sample_ = now_ = at;
    next_sample_ = options_.sample_period != 0 ? at + options_.sample_period : forever;
    target_ = std::min(forever, at + wanted_);
    set_stop();
}

// The process has come to the end of its region, or of all its streams.
void Simulation::end_region(std::uint32_t process, Ticks at) {
    ProcessRun& run = runs_[process];
    const Process& of = streams_of(process);
    if (!run.in_region) throw SimulationError("the region of interest never begins");
    yield_ = true;
    retiring_.push_back(process);
    if (run.ended || repeats_left_ != 0) return;
    for (std::uint32_t i = of.first_stream; i < of.first_stream + of.streams; ++i)
        if (run.live == 0) at = std::max(at, streams_[i].accounted);
    const Ticks before = now_;
    now_ = at;
    for (std::uint32_t i = of.first_stream; i < of.first_stream + of.streams; ++i) {
        account(streams_[i], at);
        streams_[i].final = counts_of_region(streams_[i]);
    }
    run.ended = true;
    run.region_end = at;
    if (--not_ended_ != 0) {
        now_ = before;
        return;
    }
    account_all(at);
    ended_ = true;
    take_last_sample(at);
}

// Takes all streams of a process off the machine.
void Simulation::take_off(std::uint32_t process, Ticks at) {
    const Process& of = streams_of(process);
    const auto theirs = [&](std::uint32_t stream) { return streams_[stream].process == process; };
    std::vector<std::uint32_t> left;
    for (std::uint32_t i = 0; i < pus_.size(); ++i) {
        Pu& p = pus_[i];
        std::erase_if(p.queue, theirs);
        if (p.stream == nobody || !theirs(p.stream)) continue;
        drain(p, streams_[p.stream]);
        p.stream = nobody;
        left.push_back(i);
    }
    for (std::uint32_t i = of.first_stream; i < of.first_stream + of.streams; ++i) {
        account(streams_[i], at);
        streams_[i].status = Status::absent;
    }
    for (const std::uint32_t i : left) give_pu(i);
}

// A process has come to the end of its region: it goes through it again, or lets others begin.
void Simulation::retire(std::uint32_t process, Ticks at) {
    if (!runs_[process].ended) {
        begin_again(at);
        return;
    }
    at = std::max(at, runs_[process].region_end);
    take_off(process, at);
    forget(process);
    start_due_processes(at);
    if (options_.restart) {
        if (stuck()) deadlock();
        start_process(process, at);
    }
    order_anew();
}

// What a process has done is undone, so that it can begin again.
void Simulation::forget(std::uint32_t process) {
    const Process& of = streams_of(process);
    for (std::uint32_t i = of.first_stream; i < of.first_stream + of.streams; ++i) {
        Stream& s = streams_[i];
        s.skip = 0;
        s.open = {};
        s.deferred.clear();
        s.frames.clear();
        s.resumable = 0;
        s.instance = nobody;
        s.resume = Resume::nothing;
        std::erase(idle_streams_, i);
    }
    for (std::uint32_t i = of.first_lock; i < of.first_lock + of.locks; ++i) locks_[i] = {};
    for (std::uint32_t i = of.first_barrier; i < of.first_barrier + of.barriers; ++i)
        barriers_[i] = {};
    for (std::uint32_t i = of.first_token; i < of.first_token + of.tokens; ++i) {
        tokens_[i] = {};
        token_waiters_.erase(i);
    }
    for (std::uint32_t i = of.first_instance; i < of.first_instance + of.instances; ++i) {
        next_of_instance_[i] = 0;
        tasks_[i] = {};
        std::erase(instances_with_tasks_, i);
    }
}

// Whether every process that has yet to end waits for itself.
bool Simulation::stuck() const {
    if (next_start_ != forever) return false;
    return std::none_of(streams_.begin(), streams_.end(), [&](const Stream& s) {
        return !runs_[s.process].ended &&
               (s.status == Status::running || s.status == Status::ready);
    });
}

Simulation::ProcessTimes Simulation::times_of(std::uint32_t process) const {
    const ProcessRun& run = runs_[process];
    if (!run.in_region) return {elapsed(), elapsed(), false};
    const Ticks end = run.ended ? run.region_end : std::max(now_, run.region_start);
    return {run.region_start - region_start_, end - region_start_, run.ended};
}

}  // namespace autofinity::sim
