#include "bursts.hpp"

#include <algorithm>

namespace autofinity::sim {
namespace {

// Progress of a running stream at `now`, in instructions: the stream may be in the middle of a gap.
std::uint64_t come_to(const Pu& p, const Stream& s, Ticks now) {
    if (now >= p.time) return p.instructions_at(s, now);
    return s.instructions - std::min<std::uint64_t>((p.time - now) / p.instruction, s.instructions);
}

}  // namespace

void Bursts::split_lost(Ticks now) {
    for (const Lost& lost : memory_.lost()) {
        if (!any_) break;
        for (const std::uint32_t index : board_.pus_of_cached_core[lost.cached_core]) {
            const Pu& p = board_.pus[index];
            // Most lines are lost long after the burst.
            if (p.stream != nobody) {
                const Stream& s = board_.streams[p.stream];
                if (!s.bursts.over(s.instructions)) take_back_from(index, lost, now);
            }
            // Threads that wait for their turn keep their position.
            for (const std::uint32_t number : p.queue)
                take_back(board_.streams[number], lost, board_.streams[number].instructions);
        }
    }
    memory_.clear_lost();
}

void Bursts::split_lost() {
    if (!board_.due.empty()) split_lost(board_.due.first_time());
    memory_.clear_lost();
}

// Takes back accesses that the running stream of a PU has not made yet. Accesses already made stay:
// no stream runs past the horizon.
void Bursts::take_back_from(std::uint32_t index, const Lost& lost, Ticks now) {
    Pu& p = board_.pus[index];
    Stream& s = board_.streams[p.stream];
    const std::size_t put_off = s.deferred.size();
    const std::uint64_t next = take_back(s, lost, come_to(p, s, std::max(p.time, now)));
    if (s.deferred.size() == put_off) return;
    p.set_watch(s);
    if (next == no_instruction) return;
    const Ticks due = std::max(now, p.time + (next - s.instructions) * p.instruction);
    if (due >= p.key) return;
    board_.advance(index, due);
    board_.yield = true;
}

// Defers the accesses to the lost line that a stream at instruction `here` has not made yet.
// Returns the first instruction after its present one to which an access was deferred.
std::uint64_t Bursts::take_back(Stream& s, const Lost& lost, std::uint64_t here) {
    std::uint64_t next = no_instruction;
    if (!regions_.begun(s.process)) return next;
    s.bursts.take_back(lost, here, [&](const Deferred& rest) {
        s.account.counts[data_cache_loads] -= rest.step.reads();
        s.account.counts[data_cache_stores] -= rest.step.writes();
        s.deferred.add(rest);
        if (rest.at > s.instructions) next = std::min(next, rest.at);
    });
    return next;
}

}  // namespace autofinity::sim
