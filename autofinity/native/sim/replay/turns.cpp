#include "turns.hpp"

#include <algorithm>

#include "sim/error.hpp"

namespace autofinity::sim {
namespace {

constexpr std::uint32_t most_idle_slices = 1u << 16;

}  // namespace

void Turns::end_slice(std::uint32_t index) {
    Pu& p = board_.pus[index];
    Stream& s = board_.streams[p.stream];
    const std::uint64_t before = s.instructions;
    const Ticks started = p.slice_end - std::min(p.slice_end, machine_.time_slice);
    issue_.drain(p, s);
    p.compute_until(s, p.slice_end);
    if (s.instructions != before || p.time > started)
        idle_slices_ = 0;
    else if (++idle_slices_ > most_idle_slices)
        throw SimulationError("the replay stands still: " + board_.where(s) +
                              " gets its time slices and makes no progress");
    run_queues_.end_slice(index);
}

template <bool watched>
[[gnu::always_inline]] inline void Turns::run_pu(std::uint32_t index, Ticks horizon) {
    Pu& p = board_.pus[index];
    if (!p.queue.empty()) {
        if (p.key >= p.slice_end) {
            end_slice(index);
            return;
        }
        horizon = std::min(horizon, p.slice_end - 1);
    }
    Stream& s = board_.streams[p.stream];
    memory_.caches(p.cached_core).counts = &s.account.counts;
    board_.yield = false;
    Siblings::Turn turn;
    if (!p.siblings.empty()) {
        turn = siblings_.share_core(p, s, horizon);
        horizon = std::min(horizon, turn.until);
    }
    if (s.resume != Resume::nothing) {
        if (!synchroniser_.resume(index, s)) return;
        if (board_.yield) {
            p.key = p.time;
            return;
        }
    }
    steps_.run<watched>(index, p, s, horizon);
    p.key = std::min(p.key, std::max(p.time, turn.change));
}

bool Turns::run() { return watching_.any() ? run_to_target<true>() : run_to_target<false>(); }

template <bool watched>
bool Turns::run_to_target() {
    DuePus& due = board_.due;
    while (!regions_.all_ended()) {
        if (due.empty() && timetable_.process == forever) synchroniser_.deadlock();
        const Ticks first = due.empty() ? timetable_.stop : due.first_time();
        if (first >= timetable_.stop) {
            stop();
            if (timetable_.stop >= timetable_.target) return false;
            timetable_.set_stop();
            continue;
        }
        const std::uint32_t index = due.first();
        board_.turn = index;
        const Ticks horizon =
            std::min(due.first_until(forever) + machine_.skew, timetable_.stop - 1);
        run_pu<watched>(index, horizon);
        if (board_.pus[index].stream == nobody)
            due.remove(index);
        else
            due.delay(index, board_.pus[index].key);
        if constexpr (watched)
            if (watching_.wants_to_act(first)) watching_.act(first);
        if (processes_.any_retiring()) [[unlikely]]
            processes_.retire(index);
    }
    return true;
}

// All PUs have come to what the replay stops for.
void Turns::stop() {
    const Ticks now = timetable_.now = timetable_.stop;
    accounting_.account_all(now);
    // The first two may put the stop off, to the time of what is asked for after them.
    if (timetable_.stop == timetable_.process) processes_.start_due(now);
    if (now >= timetable_.detection) watching_.act(now);
    if (timetable_.stop == timetable_.balance || timetable_.stop == timetable_.daemon)
        os_events_.act(now);
    if (timetable_.stop == timetable_.sample) samples_.take_due(now, regions_.progress());
}

}  // namespace autofinity::sim
