#include "program_builder.hpp"

#include <algorithm>
#include <utility>

#include "sim/error.hpp"

namespace autofinity::sim {
namespace {

using trace::Event;
using trace::Kind;

constexpr std::uint64_t max_virtual_line = std::uint64_t{1} << 42;  // 48-bit addresses
constexpr std::size_t most_streams = 60000;
constexpr std::size_t most_processes = 64;

}  // namespace

Program::Program(const std::vector<trace::TracePtr>& traces) {
    if (traces.empty() || traces.size() > most_processes)
        throw SimulationError("got " + std::to_string(traces.size()) + " traces; 1 to " +
                              std::to_string(most_processes) + " can be replayed together");
    ProgramBuilder builder(*this);
    for (const trace::TracePtr& each : traces) {
        if (!each || each->streams.empty()) throw SimulationError("the trace holds no stream");
        builder.add(*each);
    }
    builder.finish();
}

Program::Program(trace::Trace&& trace) {
    if (trace.streams.empty()) throw SimulationError("the trace holds no stream");
    ProgramBuilder builder(*this);
    builder.add(std::move(trace));
    builder.finish();
}

ProgramBuilder::ProgramBuilder(Program& program)
    : program_(program),
      lock_(program.lock_objects),
      barrier_(program.barrier_objects),
      token_(program.tokens),
      first_page_(1, 0) {}

void ProgramBuilder::fail(const Reader& r, const std::string& what) const {
    throw SimulationError(
        "malformed trace: " + (process_ == 0 ? "" : "program " + std::to_string(process_) + ", ") +
        "stream " + std::to_string(r.local) + ", event " + std::to_string(r.event) + ": " + what);
}

ProgramBuilder::Region ProgramBuilder::find_region(const trace::Trace& trace) {
    Region region;
    for (std::size_t s = 0; s < trace.streams.size(); ++s) {
        const auto& events = trace.streams[s].events;
        for (std::size_t i = 0; i < events.size(); ++i) {
            if (events[i].kind == Kind::roi_begin && region.begin_stream == none) {
                region.begin_stream = s;
                region.begin = i;
            } else if (events[i].kind == Kind::roi_end) {
                region.end_stream = s;
                region.end = i;
            }
        }
    }
    return region;
}

void ProgramBuilder::add(const trace::Trace& trace) {
    add_process(trace, [](std::size_t) {});
}

void ProgramBuilder::add(trace::Trace&& trace) {
    add_process(trace,
                [&](std::size_t stream) { trace.streams[stream].events = std::vector<Event>(); });
    trace.streams.clear();
}

template <typename After>
void ProgramBuilder::add_process(const trace::Trace& trace, After&& after) {
    const auto count = [](const auto& all) { return static_cast<std::uint32_t>(all.size()); };
    if (program_.streams.size() + trace.streams.size() > most_streams)
        throw SimulationError("the trace has " +
                              std::to_string(program_.streams.size() + trace.streams.size()) +
                              " streams; at most 60000 can be replayed");
    region_ = find_region(trace);
    if (region_.begin_stream == region_.end_stream && region_.end != none &&
        region_.end < region_.begin)
        throw SimulationError("malformed trace: stream " + std::to_string(region_.end_stream) +
                              ", event " + std::to_string(region_.end) +
                              ": the region of interest ends before it begins");
    regions_.push_back(region_);
    lock_.begin_process();
    barrier_.begin_process();
    token_.begin_process();
    instance_of_.clear();
    posted_later_.clear();
    last_name_ = ~std::uint64_t{0};
    Process p;
    p.first_stream = count(program_.streams);
    p.first_lock = count(program_.lock_objects);
    p.first_barrier = count(program_.barrier_objects);
    p.first_token = count(program_.tokens);
    p.first_instance = count(program_.instances);
    p.has_roi = region_.begin_stream != none;
    for (std::size_t s = 0; s < trace.streams.size(); ++s) {
        read_stream(trace, s);
        after(s);
    }
    p.streams = count(program_.streams) - p.first_stream;
    p.locks = count(program_.lock_objects) - p.first_lock;
    p.barriers = count(program_.barrier_objects) - p.first_barrier;
    p.tokens = count(program_.tokens) - p.first_token;
    p.instances = count(program_.instances) - p.first_instance;
    for (std::uint32_t s = p.first_stream; s < p.first_stream + p.streams; ++s)
        p.instructions += program_.streams[s].instructions;
    program_.processes.push_back(p);
    check_awaited();
    ++process_;
}

void ProgramBuilder::read_stream(const trace::Trace& trace, std::size_t local) {
    const auto& events = trace.streams[local].events;
    Reader r;
    r.stream = static_cast<std::uint32_t>(program_.streams.size());
    r.local = local;
    program_.streams.emplace_back();
    StreamPlan& plan = program_.streams.back();
    if (events.size() >= none) fail(r, "too many events in one stream");
    plan.steps.reserve(events.size() + 1 + steps_foreseen);
    for (r.event = 0; r.event < events.size(); ++r.event) {
        const Event& e = events[r.event];
        plan.steps.push_back(step_of(r, e));
        plan.instructions += e.gap;
        ++program_.events;
        // Events after the region are not simulated.
        if (local == region_.end_stream && r.event == region_.end) break;
    }
    for (std::size_t later = r.event + 1; later < events.size(); ++later)
        if (events[later].kind == Kind::post) posted_later_.insert(events[later].value);
    // A region may end inside a critical section, which comes after others all the same.
    while (!r.open_locks.empty()) close_lock(r, r.open_locks.back().object);
    r.event = events.size();
    if (!r.open_units.empty() && local != region_.end_stream) fail(r, "a work unit does not end");
    for (const std::uint32_t unit : r.open_units) {
        program_.units[unit].last = static_cast<std::uint32_t>(plan.steps.size());
        if (program_.units[unit].task) run_in_place(unit);
    }
    plan.steps.insert(plan.steps.end(), 1 + steps_foreseen, Step::sentinel());
}

Step ProgramBuilder::step_of(Reader& r, const Event& e) {
    // Only posts, and events that are not the program's, leave the latest post the latest.
    const std::uint32_t posted_before = std::exchange(r.just_posted, no_token);
    switch (e.kind) {
        case Kind::access:
            r.just_posted = posted_before;
            return access(r, e);
        case Kind::compute:
        case Kind::thread_begin:
        case Kind::thread_end:
            r.just_posted = posted_before;
            return Step::event(e.kind, e.gap);
        case Kind::heartbeat:
            return Step::event(e.kind, e.gap,
                               static_cast<std::uint32_t>(std::min<std::uint64_t>(e.value, none)));
        case Kind::unit_begin:
            r.just_posted = posted_before;
            return Step::event(e.kind, e.gap, begin_unit(r, e));
        case Kind::unit_end:
            return Step::event(e.kind, e.gap, end_unit(r));
        case Kind::lock: {
            const std::uint32_t number = lock_(e.value);
            open_lock(r, number);
            return Step::lock(e.gap, number, e.aux == trace::lock_shared);
        }
        case Kind::unlock: {
            const std::uint32_t number = lock_(e.value);
            close_lock(r, number);
            return Step::event(e.kind, e.gap, number);
        }
        case Kind::barrier:
            return Step::barrier(e.gap, barrier(r, e), e.aux);
        case Kind::post:
            return Step::event(e.kind, e.gap, r.just_posted = post(r, e));
        case Kind::await:
            return Step::event(e.kind, e.gap, await(r, e, posted_before));
        case Kind::roi_begin:
        case Kind::roi_end:
            return Step::event(marks_region(r) ? e.kind : Kind::compute, e.gap);
        default:
            fail(r, "unknown kind " + std::to_string(static_cast<int>(e.kind)));
    }
}

// Inner marks of a region that is entered several times do not end the region.
bool ProgramBuilder::marks_region(const Reader& r) const {
    return (r.local == region_.begin_stream && r.event == region_.begin) ||
           (r.local == region_.end_stream && r.event == region_.end);
}

Step ProgramBuilder::access(const Reader& r, const Event& e) {
    if (e.value >= max_virtual_line)
        fail(r, "line " + std::to_string(e.value) +
                    " is beyond 48 bits of address (lines are addresses >> 6)");
    if (e.reads == 0 && e.writes == 0) fail(r, "an access burst without accesses");
    program_.accesses += e.reads + e.writes;
    const Line line = group_of_line(r, e.value) << group_shift |
                      static_cast<Line>(e.value & ((1u << group_shift) - 1));
    return Step::access(line, e.gap, e.span, e.reads, e.writes, e.flags);
}

std::uint32_t ProgramBuilder::group_of_line(const Reader& r, std::uint64_t line) {
    if (line >> group_shift == last_name_) return last_group_;
    last_name_ = line >> group_shift;
    const std::uint64_t page = line >> page_shift;
    const auto [at, added] =
        program_.group_of_.try_emplace(Program::group_key(process_, page), groups_);
    if (added) {
        if (++groups_ > max_lines >> group_shift)
            fail(r, "the program touches more than 16 GiB of address space");
        first_page_.push_back(std::uint64_t{process_} << process_shift |
                              (page & ~std::uint64_t{7}));
    }
    return last_group_ = at->second;
}

void ProgramBuilder::open_lock(Reader& r, std::uint32_t number) {
    const auto at = static_cast<std::uint32_t>(program_.streams[r.stream].steps.size());
    r.open_locks.push_back({number, at, false, {}});
}

void ProgramBuilder::close_lock(Reader& r, std::uint32_t number) {
    const auto open = std::find_if(r.open_locks.rbegin(), r.open_locks.rend(),
                                   [&](const OpenLock& o) { return o.object == number; });
    if (open == r.open_locks.rend()) return;
    if (!open->awaits.empty()) {
        const auto needs = static_cast<std::uint32_t>(program_.lock_needs.size());
        program_.lock_needs.push_back(open->awaits);
        program_.streams[r.stream].steps[open->step].need_tokens(needs);
    }
    r.open_locks.erase(std::next(open).base());
}

std::uint32_t ProgramBuilder::token(const Event& e) {
    const std::uint32_t number = token_(e.value);
    posted_.resize(program_.tokens.size());
    awaited_.resize(program_.tokens.size());
    program_.task_of_token.resize(program_.tokens.size(), no_token);
    return number;
}

std::uint32_t ProgramBuilder::post(Reader& r, const Event& e) {
    const std::uint32_t number = token(e);
    for (OpenLock& open : r.open_locks) open.posted = true;
    if (posted_[number]++ != 0) fail(r, "token " + std::to_string(e.value) + " is posted twice");
    return number;
}

std::uint32_t ProgramBuilder::await(Reader& r, const Event& e, std::uint32_t just_posted) {
    const std::uint32_t number = token(e);
    for (OpenLock& open : r.open_locks)
        if (!open.posted) open.awaits.push_back(number);
    awaited_[number] = 1;
    if (r.open_units.empty()) return number;
    const std::uint32_t of = r.open_units.back();
    const Unit& unit = program_.units[of];
    // The first event of a task: its creation. A task that begins where it was created was not
    // deferred: its creator continues after it.
    if (unit.task && unit.first == r.event) {
        if (number == just_posted || program_.task_of_token[number] != no_token)
            run_in_place(of);
        else
            program_.task_of_token[number] = of;
    }
    return number;
}

std::uint32_t ProgramBuilder::begin_unit(Reader& r, const Event& e) {
    const auto [at, added] = instance_of_.try_emplace(
        e.value >> 20, static_cast<std::uint32_t>(program_.instances.size()));
    if (added) program_.instances.emplace_back();
    const auto number = static_cast<std::uint32_t>(program_.units.size());
    const bool task = e.aux == 1;
    r.open_units.push_back(number);
    program_.units.push_back({at->second, static_cast<std::uint32_t>(e.value & 0xFFFFF), r.stream,
                              static_cast<std::uint32_t>(r.event + 1), 0, true, task, false});
    // A replay skips marks inside another unit.
    if (!task && r.open_units.size() == 1) {
        const auto [before, first] = r.latest.try_emplace(at->second, number);
        if (!first) {
            program_.units[before->second].last_of_stream = false;
            before->second = number;
        }
    }
    return number;
}

std::uint32_t ProgramBuilder::end_unit(Reader& r) {
    if (r.open_units.empty()) fail(r, "a work unit ends that did not begin");
    const std::uint32_t number = r.open_units.back();
    r.open_units.pop_back();
    Unit& unit = program_.units[number];
    unit.last = static_cast<std::uint32_t>(r.event);
    if (unit.task) r.team_tasks.push_back(unit.instance);
    return number;
}

std::uint32_t ProgramBuilder::barrier(Reader& r, const Event& e) {
    if (e.aux == 0) fail(r, "a barrier for no thread");
    const std::uint32_t number = barrier_(e.value);
    program_.instance_of_barrier.resize(program_.barrier_objects.size(), no_token);
    if (!r.open_units.empty()) return number;
    for (const std::uint32_t instance : r.team_tasks) {
        if (program_.instances[instance].barrier != no_token ||
            program_.instance_of_barrier[number] != no_token)
            continue;
        program_.instances[instance].barrier = number;
        program_.instance_of_barrier[number] = instance;
    }
    r.team_tasks.clear();
    return number;
}

// The task is replayed by its stream of the capture, at its place in the capture.
void ProgramBuilder::run_in_place(std::uint32_t number) {
    Unit& unit = program_.units[number];
    unit.in_place = true;
    program_.streams[unit.stream].steps[unit.first - 1].become_compute();
}

// A thread that waits for a token posted after the region waits until the region ends.
void ProgramBuilder::check_awaited() const {
    const Process& p = program_.processes.back();
    for (std::size_t t = p.first_token; t < p.first_token + p.tokens; ++t)
        if (awaited_[t] != 0 && posted_[t] == 0 && !posted_later_.contains(program_.tokens[t]))
            throw SimulationError("malformed trace: token " + std::to_string(program_.tokens[t]) +
                                  " is awaited but never posted (within the region of interest)");
}

}  // namespace autofinity::sim
