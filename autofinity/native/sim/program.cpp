#include "program.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_set>

#include "error.hpp"
#include "zeroed.hpp"

namespace autofinity::sim {
namespace {

using trace::Event;
using trace::Kind;

constexpr std::uint64_t max_virtual_line = std::uint64_t{1} << 42;  // 48-bit addresses
constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

[[noreturn]] void fail(std::size_t stream, std::size_t event, const std::string& what) {
    throw SimulationError("malformed trace: stream " + std::to_string(stream) + ", event " +
                          std::to_string(event) + ": " + what);
}

// Dense numbers for sparse names, in order of appearance.
class Numbering {
  public:
    explicit Numbering(std::vector<std::uint64_t>& names) : names_(names) {}
    std::uint32_t operator()(std::uint64_t name) {
        const auto [at, added] =
            number_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
        if (added) names_.push_back(name);
        return at->second;
    }

  private:
    std::vector<std::uint64_t>& names_;
    std::unordered_map<std::uint64_t, std::uint32_t> number_;
};

// Index of the first roi_begin and the last roi_end; the region lies between them.
struct Region {
    std::size_t begin_stream = none, begin = none, end_stream = none, end = none;
};

Region find_region(const trace::Trace& trace) {
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

// A lock that is held while the stream is read: what is awaited inside, before anything is posted.
struct OpenLock {
    std::uint32_t object, step;
    bool posted;
    std::vector<std::uint32_t> awaits;
};

}  // namespace

Program::Program(trace::TracePtr trace) {
    if (!trace || trace->streams.empty()) throw SimulationError("the trace holds no stream");
    if (trace->streams.size() > 60000)
        throw SimulationError("the trace has " + std::to_string(trace->streams.size()) +
                              " streams; at most 60000 can be replayed");
    const Region region = find_region(*trace);
    has_roi = region.begin_stream != none;

    const auto keep_needs = [&](StreamPlan& plan, const OpenLock& open) {
        if (open.awaits.empty()) return;
        const auto number = static_cast<std::uint32_t>(lock_needs.size());
        lock_needs.push_back(open.awaits);
        Step& step = plan.steps[open.step];
        step.flags |= step_needs;
        step.reads = static_cast<std::uint16_t>(number & 0xFFFF);
        step.writes = static_cast<std::uint16_t>(number >> 16);
    };
    Numbering lock(lock_objects), barrier(barrier_objects), token(tokens);
    std::vector<std::uint8_t> posted, awaited;
    std::unordered_map<std::uint64_t, std::uint32_t> instance_of;
    std::uint32_t groups = 1;  // group 0 stays unused: line 0 means an empty way
    std::uint64_t last_group_name = ~std::uint64_t{0};
    std::uint32_t last_group = 0;

    streams.resize(trace->streams.size());
    for (std::size_t s = 0; s < streams.size(); ++s) {
        const auto& source = trace->streams[s].events;
        if (source.size() >= none) fail(s, source.size(), "too many events in one stream");
        auto& plan = streams[s];
        plan.steps.reserve(source.size() + 1 + steps_foreseen);
        std::vector<std::uint32_t> open_units;  // a task that waits may run others inside it
        std::vector<OpenLock> open_locks;
        std::unordered_map<std::uint32_t, std::uint32_t> latest;  // unit of each instance
        for (std::size_t i = 0; i < source.size(); ++i) {
            const Event& e = source[i];
            Step step{0, e.gap, 0, 0, 0, static_cast<std::uint8_t>(e.kind), 0};
            switch (e.kind) {
                case Kind::access: {
                    if (e.value >= max_virtual_line)
                        fail(s, i,
                             "line " + std::to_string(e.value) +
                                 " is beyond 48 bits of address (lines are addresses >> 6)");
                    if (e.reads == 0 && e.writes == 0) fail(s, i, "an access run without accesses");
                    const std::uint64_t name = e.value >> group_shift;
                    if (name != last_group_name) {
                        const auto [at, added] = group_of_.try_emplace(name, groups);
                        if (added && ++groups > max_lines >> group_shift)
                            fail(s, i, "the program touches more than 16 GiB of address space");
                        last_group_name = name;
                        last_group = at->second;
                    }
                    step.line = last_group << group_shift |
                                static_cast<Line>(e.value & ((1u << group_shift) - 1));
                    step.span = e.span;
                    step.reads = e.reads;
                    step.writes = e.writes;
                    step.flags = e.flags & (step_atomic | step_first_write | step_dependent);
                    if (e.reads + e.writes > 1 && e.span > 0) step.flags |= step_run;
                    accesses += e.reads + e.writes;
                    break;
                }
                case Kind::lock:
                    step.line = lock(e.value);
                    open_locks.push_back({step.line, static_cast<std::uint32_t>(i), false, {}});
                    break;
                case Kind::unlock: {
                    step.line = lock(e.value);
                    const auto open =
                        std::find_if(open_locks.rbegin(), open_locks.rend(),
                                     [&](const OpenLock& o) { return o.object == step.line; });
                    if (open != open_locks.rend()) {
                        keep_needs(plan, *open);
                        open_locks.erase(std::next(open).base());
                    }
                    break;
                }
                case Kind::barrier:
                    if (e.aux == 0) fail(s, i, "a barrier for no thread");
                    step.line = barrier(e.value);
                    step.reads = e.aux;
                    break;
                case Kind::post:
                case Kind::await: {
                    step.line = token(e.value);
                    posted.resize(tokens.size());
                    awaited.resize(tokens.size());
                    for (OpenLock& open : open_locks) {
                        if (e.kind == Kind::await && !open.posted) open.awaits.push_back(step.line);
                        open.posted |= e.kind == Kind::post;
                    }
                    if (e.kind == Kind::await) {
                        awaited[step.line] = 1;
                        if (!open_units.empty() && units[open_units.back()].first == i)
                            units[open_units.back()].created = step.line;
                    } else if (posted[step.line]++ != 0) {
                        fail(s, i, "token " + std::to_string(e.value) + " is posted twice");
                    }
                    break;
                }
                case Kind::unit_begin: {
                    // Tasks (aux 1) are replayed where they were captured. Handing them out in the
                    // order of the capture's creations deadlocks: in replay they may be created in
                    // another order, and all wait for one that only a waiting thread would create.
                    if (e.aux == 1) {
                        step.kind = static_cast<std::uint8_t>(Kind::compute);
                        break;
                    }
                    const std::uint64_t id = e.value >> 20;
                    const auto [at, added] =
                        instance_of.try_emplace(id, static_cast<std::uint32_t>(instances.size()));
                    if (added) instances.push_back({id, {}});
                    const auto number = static_cast<std::uint32_t>(units.size());
                    open_units.push_back(number);
                    units.push_back({at->second, static_cast<std::uint32_t>(e.value & 0xFFFFF),
                                     static_cast<std::uint32_t>(s),
                                     static_cast<std::uint32_t>(i + 1), 0, no_token, true});
                    // Marks inside another unit are passed over in replay.
                    if (open_units.size() == 1) {
                        const auto [before, first] = latest.try_emplace(at->second, number);
                        if (!first) {
                            units[before->second].last_of_stream = false;
                            before->second = number;
                        }
                    }
                    step.line = number;
                    break;
                }
                case Kind::unit_end:
                    if (e.aux == 1) {
                        step.kind = static_cast<std::uint8_t>(Kind::compute);
                        break;
                    }
                    if (open_units.empty()) fail(s, i, "a work unit ends that did not begin");
                    step.line = open_units.back();
                    open_units.pop_back();
                    units[step.line].last = static_cast<std::uint32_t>(i);
                    break;
                case Kind::heartbeat:
                    step.line = static_cast<Line>(std::min<std::uint64_t>(e.value, none));
                    break;
                case Kind::roi_begin:
                case Kind::roi_end:
                    // Inner marks of a region that is entered several times do not end it.
                    if (!(s == region.begin_stream && i == region.begin) &&
                        !(s == region.end_stream && i == region.end))
                        step.kind = static_cast<std::uint8_t>(Kind::compute);
                    break;
                case Kind::thread_begin:
                case Kind::thread_end:
                case Kind::compute:
                    break;
                default:
                    fail(s, i, "unknown kind " + std::to_string(static_cast<int>(e.kind)));
            }
            plan.steps.push_back(step);
            plan.instructions += e.gap;
            ++events;
            // What comes after the region is not simulated.
            if (s == region.end_stream && i == region.end) break;
        }
        if (!open_units.empty() && s != region.end_stream)
            fail(s, source.size(), "a work unit does not end");
        for (const std::uint32_t unit : open_units)
            units[unit].last = static_cast<std::uint32_t>(plan.steps.size());
        plan.steps.insert(plan.steps.end(), 1 + steps_foreseen, {0, 0, 0, 0, 0, kind_sentinel, 0});
    }
    // A thread that waits for what is posted after the region waits until the region ends.
    std::unordered_set<std::uint64_t> posted_later;
    if (region.end_stream != none) {
        const auto& source = trace->streams[region.end_stream].events;
        for (std::size_t i = region.end + 1; i < source.size(); ++i)
            if (source[i].kind == Kind::post) posted_later.insert(source[i].value);
    }
    for (std::size_t t = 0; t < tokens.size(); ++t)
        if (awaited[t] != 0 && posted[t] == 0 && !posted_later.contains(tokens[t]))
            throw SimulationError("malformed trace: token " + std::to_string(tokens[t]) +
                                  " is awaited but never posted (within the region of interest)");

    for (std::uint32_t u = 0; u < units.size(); ++u)
        instances[units[u].instance].units.push_back(u);
    for (auto& instance : instances)
        std::stable_sort(instance.units.begin(), instance.units.end(),
                         [&](auto a, auto b) { return units[a].order < units[b].order; });

    // One line for each lock and barrier, on pages of their own.
    const auto round_up = [](std::uint32_t lines, std::uint32_t to = lines_per_page) {
        return (lines + to - 1) / to * to;
    };
    first_lock_line = groups << group_shift;
    first_barrier_line =
        first_lock_line + round_up(static_cast<std::uint32_t>(lock_objects.size()));
    n_lines =
        round_up(first_barrier_line + round_up(static_cast<std::uint32_t>(barrier_objects.size())),
                 1u << group_shift);
    virtual_page.assign(n_pages(), 0);
    for (const auto& [name, group] : group_of_)
        for (std::uint32_t i = 0; i < 8; ++i) virtual_page[(group << 3) + i] = (name << 3) + i;
    tables = PageTables(virtual_page, n_lines);
    n_lines = tables.end;
    virtual_page.resize(n_pages(), 0);

    // Which lines need no order: touched by one thread only, or by several but never written.
    // Before its region of interest the main thread is replayed for warm caches only.
    constexpr std::uint32_t many = none, written = 0x80000000u;
    Zeroed<std::uint32_t> toucher(n_lines);
    const auto each_access = [&](auto&& visit) {
        for (std::size_t s = 0; s < streams.size(); ++s) {
            auto& steps = streams[s].steps;
            std::vector<std::uint32_t> outer;
            std::uint32_t who = static_cast<std::uint32_t>(s + 1);
            for (std::size_t i = s == region.begin_stream ? region.begin : 0; i < steps.size();
                 ++i) {
                if (steps[i].kind == static_cast<std::uint8_t>(Kind::unit_begin)) {
                    outer.push_back(who);
                    who = static_cast<std::uint32_t>(streams.size() + 1 + steps[i].line);
                } else if (steps[i].kind == static_cast<std::uint8_t>(Kind::unit_end) &&
                           !outer.empty()) {
                    who = outer.back();
                    outer.pop_back();
                } else if (steps[i].kind == 0)
                    visit(steps[i], who);
            }
        }
    };
    each_access([&](const Step& step, std::uint32_t who) {
        std::uint32_t& mark = toucher[step.line];
        const std::uint32_t seen = mark & ~written;
        if (seen == 0)
            mark |= who;
        else if (seen != who)
            mark |= many & ~written;
        if (step.writes != 0) mark |= written;
    });
    each_access([&](Step& step, std::uint32_t) {
        const std::uint32_t mark = toucher[step.line];
        if ((mark & ~written) != (many & ~written) || (mark & written) == 0)
            step.flags |= step_free;
    });
    if (has_roi) {
        auto& steps = streams[region.begin_stream].steps;
        for (std::size_t i = 0; i < region.begin; ++i)
            if (steps[i].kind == 0) steps[i].flags |= step_free;
    }
}

std::uint32_t Program::page_of(std::uint64_t number) const {
    const auto at = group_of_.find(number >> 3);
    return at == group_of_.end() ? 0 : at->second << 3 | static_cast<std::uint32_t>(number & 7);
}

std::uint64_t Program::object_of(const Step& step) const {
    switch (static_cast<Kind>(step.kind)) {
        case Kind::lock:
        case Kind::unlock:
            return lock_objects[step.line];
        case Kind::barrier:
            return barrier_objects[step.line];
        case Kind::post:
        case Kind::await:
            return tokens[step.line];
        default:
            return step.line;
    }
}

}  // namespace autofinity::sim
