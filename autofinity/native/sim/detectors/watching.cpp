#include "watching.hpp"

#include <algorithm>

namespace autofinity::sim {

Watching::Watching(const MachineModel& machine, const Program& program, Memory& memory,
                   Board& board, Timetable& timetable, const std::vector<Detector>& wanted,
                   const std::vector<std::uint32_t>& threads)
    : machine_(machine), memory_(memory), board_(board), timetable_(timetable) {
    if (wanted.empty()) return;
    detection_ = std::make_unique<Detection>(machine, program, memory, wanted, threads, overhead_);
    timetable_.detection = std::min(forever, detection_->next());
}

void Watching::tell(const Pu& p, const Stream& s, Untold& untold) {
    if (untold.accesses == 0) return;
    untold.cost +=
        detection_->accessed(actor(p, s), untold.page, std::exchange(untold.accesses, 0));
}

Ticks Watching::accessed(const Pu& p, const Stream& s, const Step& step, const Served& served,
                         Ticks issued, Ticks latency) {
    const Actor who = actor(p, s);
    const std::uint32_t page = step.line() >> page_shift;
    Ticks cost = 0;
    if (const Walk walk = memory_.take_walk(); walk.happened)
        cost += detection_->translated(who, page, walk);
    cost += detection_->served(who, step, served, latency);
    cost += detection_->accessed(who, page, step.accesses());
    cost += detection_->change_entries(who, issued);
    if (wants_to_act(p.time)) board_.yield = true;  // all cores are to stop
    return cost;
}

void Watching::act(Ticks at) {
    detection_->act(at);
    charge_cores();
    timetable_.detection = std::min(forever, detection_->next());
}

void Watching::moved(std::uint32_t page, const CachedCoreSet& shot_down) {
    if (detection_) detection_->moved(page, shot_down);
}

void Watching::charge(std::uint32_t pu, const SinkHost::Charge& charge) {
    board_.delay(pu, charge.time);
    overhead_[charge.kind] += charge.time;
}

void Watching::charge_cores() {
    const auto n = static_cast<std::uint32_t>(board_.pus.size());
    for (const SinkHost::Charge& each : detection_->take_charges()) {
        if (each.cached_core == any_cached_core) {
            for (std::uint32_t i = 1; i <= n; ++i) {
                const std::uint32_t pu = (last_charged_ + i) % n;
                if (!board_.runs(pu)) continue;
                last_charged_ = pu;
                charge(pu, each);
                break;
            }
            continue;
        }
        for (const std::uint32_t pu : board_.pus_of_cached_core[each.cached_core]) {
            if (!board_.runs(pu)) continue;
            charge(pu, each);
            if (each.kind != Overhead::interrupt) break;  // all hardware threads stop
        }
    }
}

void Watching::interrupt(const CachedCoreSet& cached_cores) {
    for (std::uint32_t i = 0; i < board_.pus.size(); ++i) {
        if (!board_.runs(i) || !std::binary_search(cached_cores.begin(), cached_cores.end(),
                                                   board_.pus[i].cached_core))
            continue;
        board_.delay(i, machine_.interrupt);
        overhead_[Overhead::interrupt] += machine_.interrupt;
    }
}

void Watching::keep_busy(std::uint32_t stream, Ticks duration) {
    const std::uint32_t pu = board_.streams.at(stream).pu;
    Pu& p = board_.pus[pu];
    if (board_.runs(pu))
        board_.delay(pu, duration);
    else  // otherwise the next stream waits
        p.time = std::max(p.time, timetable_.now) + duration;
}

void Watching::begin_region() {
    overhead_ = {};
    if (!detection_) return;
    detection_->take_triggers();
    detection_->take_unit_accesses();
}

}  // namespace autofinity::sim
