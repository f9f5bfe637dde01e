#include "detection.hpp"

#include <algorithm>
#include <string>

#include "sim/error.hpp"

namespace autofinity::sim {

Detection::Detection(const MachineModel& machine, const Program& program, Memory& memory,
                     const std::vector<Detector>& wanted, const std::vector<std::uint32_t>& threads,
                     OverheadTicks& overhead)
    : program_(program),
      memory_(memory),
      host_(machine, program, memory, threads.size(), overhead),
      thread_of_stream_(program.streams.size(), detect::no_thread) {
    if (threads.size() >= detect::no_thread)
        throw SimulationError("got " + std::to_string(threads.size()) +
                              " threads; detectors distinguish at most 65534");
    for (std::size_t thread = 0; thread < threads.size(); ++thread) {
        const std::uint32_t stream = threads[thread];
        if (stream >= thread_of_stream_.size())
            throw SimulationError("thread " + std::to_string(thread) + " is stream " +
                                  std::to_string(stream) + "; there are " +
                                  std::to_string(thread_of_stream_.size()));
        if (thread_of_stream_[stream] != detect::no_thread)
            throw SimulationError("stream " + std::to_string(stream) + " is two threads");
        thread_of_stream_[stream] = static_cast<detect::Thread>(thread);
    }
    for (const Detector& one : wanted)
        sinks_.push_back(
            std::visit([&](const auto& detector) { return make_sink(host_, detector); }, one));
}

Ticks Detection::faulted(const Actor& actor, Line line, bool induced) {
    const std::uint32_t page = line >> page_shift;
    // The simulator's own lines (of locks, barriers and page tables) are no pages of the program.
    if (program_.virtual_page[page] == 0) return 0;
    if (induced)
        host_.disarm(page);
    else
        host_.touch(page);
    Ticks cost = 0;
    for (const auto& sink : sinks_) cost += sink->faulted(actor, page, line, induced);
    return cost;
}

Ticks Detection::accessed(const Actor& actor, std::uint32_t page, std::uint64_t count) {
    if (program_.virtual_page[page] == 0) return 0;
    Ticks cost = 0;
    for (const auto& sink : sinks_) cost += sink->accessed(actor, page, count);
    return cost;
}

Ticks Detection::translated(const Actor& actor, std::uint32_t page, Walk walk) {
    const bool of_program = program_.virtual_page[page] != 0;
    Ticks cost = 0;
    for (const auto& sink : sinks_) {
        if (walk.evicted != 0) cost += sink->evicted(actor.cached_core, walk.evicted, false);
        if (of_program) cost += sink->walked(actor, page);
    }
    return cost;
}

Ticks Detection::served(const Actor& actor, const Step& step, const Served& served, Ticks latency) {
    if (program_.virtual_page[step.line() >> page_shift] == 0) return 0;
    Ticks cost = 0;
    for (const auto& sink : sinks_) cost += sink->served(actor, step, served, latency);
    return cost;
}

void Detection::moved(std::uint32_t page, const CachedCoreSet& shot_down) {
    host_.lose(shot_down, page);
    pass_losses();
    for (const auto& sink : sinks_) sink->moved(page);
}

Ticks Detection::next() const {
    Ticks first = never;
    for (const auto& sink : sinks_) first = std::min(first, sink->next());
    return first;
}

void Detection::act(Ticks now) {
    for (const auto& sink : sinks_)
        if (sink->next() <= now) sink->act(now);
    pass_losses();
}

void Detection::pass_losses() {
    for (const SinkHost::Loss& loss : host_.take_losses())
        for (const std::uint32_t cached_core : loss.cached_cores)
            for (const auto& sink : sinks_)
                sink->evicted(cached_core, memory_.units().of(loss.page), true);
}

std::vector<PageVector> Detection::take_pages() {
    std::vector<PageVector> all;
    for (const auto& sink : sinks_)
        for (PageVector& one : sink->take_pages()) all.push_back(std::move(one));
    return all;
}

}  // namespace autofinity::sim
