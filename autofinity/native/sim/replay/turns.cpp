#include "turns.hpp"

#include <algorithm>

#include "steps.hpp"

namespace autofinity::sim {
namespace {

template <bool watched>
[[gnu::always_inline]] inline void run_pu(Parts& parts, std::uint32_t index, Ticks horizon) {
    Pu& p = parts.board.pus[index];
    if (!p.queue.empty()) {
        if (p.key >= p.slice_end) {
            parts.run_queues.end_slice(index);
            return;
        }
        horizon = std::min(horizon, p.slice_end - 1);
    }
    Stream& s = parts.board.streams[p.stream];
    parts.memory.caches(p.cached_core).counts = &s.account.counts;
    parts.board.yield = false;
    Siblings::Turn turn;
    if (!p.siblings.empty()) {
        turn = parts.siblings.share_core(p, s, horizon);
        horizon = std::min(horizon, turn.until);
    }
    if (s.resume != Resume::nothing) {
        if (!parts.synchroniser.resume(index, s)) return;
        if (parts.board.yield) {
            p.key = p.time;
            return;
        }
    }
    run_steps<watched>(parts, index, p, s, horizon);
    p.key = std::min(p.key, std::max(p.time, turn.change));
}

// All PUs have reached the time for which the replay stops.
void stop(Parts& parts) {
    const Ticks now = parts.timetable.now = parts.timetable.stop;
    parts.accounting.account_all(now);
    // The first two may delay the stop, to the time that is asked for after them.
    if (parts.timetable.stop == parts.timetable.process) parts.processes.start_due(now);
    if (now >= parts.timetable.detection) parts.watching.act(now);
    if (parts.timetable.stop == parts.timetable.balance ||
        parts.timetable.stop == parts.timetable.daemon)
        parts.os_events.act(now);
    if (parts.timetable.stop == parts.timetable.sample)
        parts.samples.take_due(now, parts.regions.progress());
}

template <bool watched>
bool run_to_target(Parts& parts) {
    DuePus& due = parts.board.due;
    while (!parts.regions.all_ended()) {
        if (due.empty() && parts.timetable.process == forever) parts.synchroniser.deadlock();
        const Ticks first = due.empty() ? parts.timetable.stop : due.first_time();
        if (first >= parts.timetable.stop) {
            stop(parts);
            // Not `stop`: whoever acted may have set the next one.
            if (parts.timetable.now >= parts.timetable.target) return false;
            parts.timetable.set_stop();
            continue;
        }
        const std::uint32_t index = due.first();
        parts.board.turn = index;
        const Ticks horizon =
            std::min(due.first_until(forever) + parts.machine->skew, parts.timetable.stop - 1);
        run_pu<watched>(parts, index, horizon);
        if (parts.board.pus[index].stream == nobody)
            due.remove(index);
        else
            due.delay(index, parts.board.pus[index].key);
        if constexpr (watched)
            if (parts.watching.wants_to_act(first)) parts.watching.act(first);
        if (parts.processes.any_retiring()) [[unlikely]]
            parts.processes.retire(index);
    }
    return true;
}

}  // namespace

bool take_turns(Parts& parts) {
    return parts.watching.any() ? run_to_target<true>(parts) : run_to_target<false>(parts);
}

}  // namespace autofinity::sim
