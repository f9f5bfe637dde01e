// What detectors, and mechanisms that act on what they see, cost the cores of a program.
#include <algorithm>

#include "sim/replay/simulation.hpp"

namespace autofinity::sim {

void Simulation::tell_accesses(const Pu& p, const Stream& s, Untold& untold) {
    if (untold.accesses == 0) return;
    untold.cost +=
        detection_->accessed(actor(p, s), untold.page, std::exchange(untold.accesses, 0));
}

// An access that was no plain hit.
Ticks Simulation::watch_access(const Pu& p, const Stream& s, const Step& step, const Served& served,
                               Ticks latency) {
    const Actor who = actor(p, s);
    const std::uint32_t page = step.line() >> page_shift;
    Ticks cost = 0;
    if (const Walk walk = memory_.take_walk(); walk.happened)
        cost += detection_->translated(who, page, walk);
    cost += detection_->served(who, step, served, latency);
    cost += detection_->accessed(who, page, step.accesses());
    if (detection_->next() <= p.time) yield_ = true;  // a detector wants all cores to stop
    return cost;
}

void Simulation::let_detectors_act(Ticks at) {
    detection_->act(at);
    charge_cores();
    next_detection_ = std::min(forever, detection_->next());
}

void Simulation::charge_cores() {
    const auto runs = [&](std::uint32_t pu) {
        return pus_[pu].stream != nobody && due_.contains(pu);
    };
    const auto pays = [&](std::uint32_t pu, const SinkHost::Charge& charge) {
        delay(pu, charge.time);
        overhead_[charge.kind] += charge.time;
    };
    const auto n = static_cast<std::uint32_t>(pus_.size());
    for (const SinkHost::Charge& charge : detection_->take_charges()) {
        if (charge.slot == any_slot) {
            for (std::uint32_t i = 1; i <= n; ++i) {
                const std::uint32_t pu = (last_charged_ + i) % n;
                if (!runs(pu)) continue;
                last_charged_ = pu;
                pays(pu, charge);
                break;
            }
            continue;
        }
        for (const std::uint32_t pu : pus_of_slot_[charge.slot]) {
            if (!runs(pu)) continue;
            pays(pu, charge);
            if (charge.kind != Overhead::interrupt) break;  // all hardware threads stand still
        }
    }
}

void Simulation::spend(std::uint32_t stream, Ticks duration) {
    const std::uint32_t pu = streams_.at(stream).pu;
    Pu& p = pus_[pu];
    if (p.stream != nobody && due_.contains(pu))
        delay(pu, duration);
    else  // whoever comes next waits
        p.time = std::max(p.time, now_) + duration;
}

}  // namespace autofinity::sim
