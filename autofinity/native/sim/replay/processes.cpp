#include "processes.hpp"

#include <algorithm>
#include <string>

#include "sim/error.hpp"

namespace autofinity::sim {

Processes::Processes(const Program& program, Board& board, Timetable& timetable,
                     Accounting& accounting, Regions& regions, Samples& samples, Watching& watching,
                     RunQueues& run_queues, Synchroniser& synchroniser, const Options& options)
    : program_(program),
      board_(board),
      timetable_(timetable),
      accounting_(accounting),
      regions_(regions),
      samples_(samples),
      watching_(watching),
      run_queues_(run_queues),
      synchroniser_(synchroniser),
      restart_(options.restart),
      processes_(program.processes.size()),
      repeats_(board, {&run_queues, &synchroniser}, options.repeats - 1) {
    if (options.repeats == 0)
        throw SimulationError("got a region that runs 0 times; expected once or more");
    if (options.repeats != 1 && processes_.size() != 1)
        throw SimulationError("got " + std::to_string(processes_.size()) +
                              " programs whose region is to be repeated; expected one");
    for (std::size_t i = 0; i < std::min(processes_.size(), options.starts.size()); ++i)
        processes_[i].start = options.starts[i];
    if (processes_[0].start.after_previous)
        throw SimulationError("the first program cannot begin after another one");
}

void Processes::start_due(Ticks at) {
    timetable_.process = forever;
    for (std::uint32_t process = 0; process < processes_.size(); ++process) {
        const State& state = processes_[process];
        if (state.started) continue;
        if (state.start.after_previous && !regions_.ended(process - 1)) continue;
        if (state.start.after_previous || state.start.at <= at)
            start(process, at);
        else
            timetable_.process = std::min(timetable_.process, state.start.at);
    }
    timetable_.set_stop();
}

void Processes::start(std::uint32_t process, Ticks at) {
    const Process& of = program_.processes[process];
    processes_[process].started = true;
    processes_[process].begun = at;
    processes_[process].live = of.streams;
    if (!of.has_roi && !regions_.begun(process)) begin_region(process, at);
    for (std::uint32_t i = of.first_stream; i < of.first_stream + of.streams; ++i)
        start_stream(i, at);
}

// A captured thread begins with an await of its creation and takes no PU before that.
void Processes::start_stream(std::uint32_t number, Ticks at) {
    Stream& s = board_.streams[number];
    const Step* first = program_.streams[number].steps.data();
    s.position = {first, first, {}, 0, number};
    s.account.accounted = std::max(s.account.accounted, at);
    if (synchroniser_.awaits_creation(s))
        synchroniser_.await_creation(s, at);
    else
        run_queues_.wake(number, at);
}

void Processes::begin_region(std::uint32_t process, Ticks at) {
    board_.yield = true;
    if (regions_.begun(process)) return;  // it has begun again
    const bool first = regions_.begin(process, at);
    if (repeats_.left() != 0 && program_.processes[process].has_roi) {
        repeats_.remember();
        live_at_start_ = processes_[process].live;
    }
    if (!first) return;
    watching_.begin_region();
    samples_.begin(at);
    timetable_.now = at;
    timetable_.target = std::min(forever, at + timetable_.wanted);
    timetable_.set_stop();
}

Ticks Processes::end_of_streams(std::uint32_t process, Ticks at) const {
    if (processes_[process].live != 0) return at;
    const Process& of = program_.processes[process];
    for (std::uint32_t i = of.first_stream; i < of.first_stream + of.streams; ++i)
        at = std::max(at, board_.streams[i].account.accounted);
    return at;
}

void Processes::end_region(std::uint32_t process, Ticks at) {
    if (!regions_.begun(process)) throw SimulationError("the region of interest never begins");
    board_.yield = true;
    retiring_.push_back(process);
    if (regions_.ended(process) || repeats_.left() != 0) return;
    at = end_of_streams(process, at);
    if (!regions_.end(process, at)) return;
    timetable_.now = at;
    accounting_.account_all(at);
    samples_.take_last(at);
}

void Processes::end_stream(std::uint32_t pu, Stream& s) {
    const Ticks at = board_.pus[pu].time;
    run_queues_.leave(pu, s);
    const bool over = program_.beginning != nullptr && ends_window(s, at);
    if (--processes_[s.process].live == 0 || over) end_region(s.process, at);
}

// A window ends with the first stream that has no more events: its next event, for which others may
// wait, is unknown.
bool Processes::ends_window(Stream& s, Ticks at) const {
    const After after = program_.beginning->after[board_.number_of(s)];
    s.left_pu = at;
    if (after == After::waits) s.status = Status::blocked;
    return after == After::goes_on;
}

void Processes::begin_region_anew() {
    accounting_.account_all(timetable_.now);
    regions_.begin_anew(timetable_.now);
    samples_.begin_anew(timetable_.now);
    timetable_.set_stop();
}

void Processes::retire(std::uint32_t pu) {
    while (!retiring_.empty() && !regions_.all_ended()) {
        const std::uint32_t process = retiring_.back();
        retiring_.pop_back();
        retire(process, board_.pus[pu].time);
    }
}

// The process repeats its region, or lets others begin.
void Processes::retire(std::uint32_t process, Ticks at) {
    if (!regions_.ended(process)) {
        begin_again(at);
        return;
    }
    const Process& of = program_.processes[process];
    at = std::max(at, regions_.end_of(process));
    run_queues_.take_off(of, at);
    repeats_.forget(of);
    start_due(at);
    // A process that takes no time would begin again for ever.
    if (restart_ && at > processes_[process].begun) {
        if (stuck()) synchroniser_.deadlock();
        start(process, at);
    }
    board_.order_anew();
}

void Processes::begin_again(Ticks at) {
    repeats_.begin_again();
    const Process& of = program_.processes[0];
    at = end_of_streams(0, at);
    run_queues_.take_off(of, at);
    repeats_.forget(of);
    if (repeats_.remembered()) {
        repeats_.restore();
        processes_[0].live = live_at_start_;
        for (std::uint32_t i = 0; i < of.streams; ++i) {
            Stream& s = board_.streams[i];
            if (repeats_.status_at_start(i) == Status::blocked) {
                s.status = Status::blocked;
                s.blocked_at = at;
            } else if (repeats_.status_at_start(i) != Status::absent) {
                run_queues_.wake(i, at);
            }
        }
    } else {  // the whole program is the region
        start(0, at);
    }
    board_.order_anew();
}

// Whether every process that has not ended waits for itself.
bool Processes::stuck() const {
    if (timetable_.process != forever) return false;
    return std::none_of(board_.streams.begin(), board_.streams.end(), [&](const Stream& s) {
        return !regions_.ended(s.process) &&
               (s.status == Status::running || s.status == Status::ready);
    });
}

}  // namespace autofinity::sim
