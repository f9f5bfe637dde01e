#include "barriers.hpp"

#include <string>
#include <utility>

#include "sim/error.hpp"

namespace autofinity::sim {

void Barriers::reach(Pu& p, Stream& s, const Step& step) {
    issue_.drain(p, s);
    Barrier& barrier = barriers_[step.barrier()];
    accesses_.touch(p, s, line_of(step.barrier()), true);
    if (barrier.waiting.empty()) barrier.expected = step.participants();
    if (barrier.expected != step.participants())
        throw SimulationError("malformed trace: " + board_.where(s) + ": barrier " +
                              std::to_string(program_.barrier_objects[step.barrier()]) + " for " +
                              std::to_string(step.participants()) +
                              " threads; the first to arrive said " +
                              std::to_string(barrier.expected));
}

bool Barriers::wait(std::uint32_t pu, Stream& s, std::uint32_t number) {
    Barrier& barrier = barriers_[number];
    if (barrier.waiting.size() + 1 < barrier.expected) {
        ++s.account.counts[barrier_waits];
        barrier.waiting.push_back(board_.number_of(s));
        s.resume = Resume::leave_barrier;
        s.resume_line = line_of(number);
        run_queues_.block(pu, s);
        return false;
    }
    ++releases_;
    const Ticks at = board_.pus[pu].time;
    for (const std::uint32_t other : barrier.waiting) run_queues_.wake(other, at);
    barrier.waiting.clear();
    return true;
}

std::uint32_t Barriers::join(Stream& s, std::uint32_t number) {
    Barrier& barrier = barriers_[number];
    if (barrier.waiting.size() + 1 < barrier.expected) ++s.account.counts[barrier_waits];
    barrier.waiting.push_back(board_.number_of(s));
    return barrier.generation;
}

void Barriers::release(std::uint32_t number, Ticks at) {
    Barrier& barrier = barriers_[number];
    if (barrier.waiting.empty() || barrier.waiting.size() < barrier.expected) return;
    ++barrier.generation;
    ++releases_;
    for (const std::uint32_t other : std::exchange(barrier.waiting, {})) {
        Stream& s = board_.streams[other];
        ++s.units.resumable;
        if (s.status == Status::blocked && s.resume == Resume::choose) run_queues_.wake(other, at);
    }
}

void Barriers::forget(const Process& process) {
    for (std::uint32_t i = process.first_barrier; i < process.first_barrier + process.barriers; ++i)
        barriers_[i] = {};
}

}  // namespace autofinity::sim
