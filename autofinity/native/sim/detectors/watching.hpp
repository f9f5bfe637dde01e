// Costs of detectors, and of mechanisms that act on their findings, to the cores of a program.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "detection.hpp"
#include "sim/replay/board.hpp"
#include "sim/replay/overhead.hpp"
#include "sim/replay/timetable.hpp"

namespace autofinity::sim {

class Watching {
  public:
    // `wanted`, `threads`: as for Detection.
    Watching(const MachineModel& machine, const Program& program, Memory& memory, Board& board,
             Timetable& timetable, const std::vector<Detector>& wanted,
             const std::vector<std::uint32_t>& threads);

    // Null without detectors: then only mechanisms have costs.
    Detection* detection() const { return detection_.get(); }
    bool any() const { return detection_ != nullptr; }

    // Consecutive accesses to one page that were not yet reported to detectors, and the cost that
    // the core owes.
    struct Untold {
        std::uint32_t page = 0;
        std::uint64_t accesses = 0;
        Ticks cost = 0;
    };
    void tell(const Pu& p, const Stream& s, Untold& untold);
    bool armed(std::uint32_t page) const { return detection_->armed(page); }
    // A fault, and an access that was no plain hit; each returns its cost to the core.
    Ticks faulted(const Pu& p, const Stream& s, Line line, bool induced) {
        return detection_->faulted(actor(p, s), line, induced);
    }
    Ticks accessed(const Pu& p, const Stream& s, const Step& step, const Served& served,
                   Ticks issued, Ticks latency);
    bool wants_to_act(Ticks at) const { return detection_->next() <= at; }
    void act(Ticks at);
    void moved(std::uint32_t page, const CachedCoreSet& shot_down);

    void spend(Overhead kind, Ticks duration) { overhead_[kind] += duration; }
    // Streams on these cores stand still while the cores forget a translation.
    void interrupt(const CachedCoreSet& cached_cores);
    // Other work keeps the core of a stream busy for this time.
    void keep_busy(std::uint32_t stream, Ticks duration);
    // Time that all this has taken from the cores since the last call.
    OverheadTicks take_overhead() { return std::exchange(overhead_, {}); }
    // Earlier costs are not part of the region.
    void begin_region();

  private:
    Actor actor(const Pu& p, const Stream& s) const {
        return detection_->actor(board_.number_of(s), p.cached_core);
    }
    void charge_cores();
    void charge(std::uint32_t pu, const SinkHost::Charge& charge);

    const MachineModel& machine_;
    Memory& memory_;
    Board& board_;
    Timetable& timetable_;
    OverheadTicks overhead_;
    std::unique_ptr<Detection> detection_;
    std::uint32_t last_charged_ = 0;  // PU that last paid a cost that any PU could pay
};

}  // namespace autofinity::sim
