// The detectors of a replay: passes events to their sinks, and returns their findings.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "sinks.hpp"

namespace autofinity::sim {

class Detection {
  public:
    // `threads`: streams that are threads 0, 1, … of the sharing matrix. Throws SimulationError for
    // a stream that does not exist, or is two threads.
    Detection(const MachineModel& machine, const Program& program, Memory& memory,
              const std::vector<Detector>& wanted, const std::vector<std::uint32_t>& threads,
              OverheadTicks& overhead);

    Actor actor(std::uint32_t stream, std::uint32_t cached_core) {
        return {cached_core, memory_.caches(cached_core).node, thread_of_stream_[stream]};
    }
    // Whether an access to the page faults, though the page is mapped.
    bool armed(std::uint32_t page) const { return host_.armed(page); }

    // Events of a replay; each returns its cost to the core.
    Ticks faulted(const Actor& actor, Line line, bool induced);
    Ticks accessed(const Actor& actor, std::uint32_t page, std::uint64_t count);
    Ticks translated(const Actor& actor, std::uint32_t page, Walk walk);
    Ticks served(const Actor& actor, const Step& step, const Served& served, Ticks latency);
    // Work that these events left to the management unit of the core, done at `now`.
    Ticks change_entries(const Actor& actor, Ticks now) {
        return host_.change_entries(actor.cached_core, now);
    }
    void moved(std::uint32_t page, const CachedCoreSet& shot_down);

    // Time at which a sink wants to act, and its action then.
    Ticks next() const;
    void act(Ticks now);
    // Costs of cores on which no event has happened.
    bool charged() const { return host_.charged(); }
    std::vector<SinkHost::Charge> take_charges() { return host_.take_charges(); }

    // Findings since the last call.
    std::vector<std::uint64_t> take_sharing() { return host_.sharing.take(); }
    std::vector<PageVector> take_pages();
    std::size_t threads() const { return host_.sharing.threads(); }
    std::uint64_t take_triggers() { return std::exchange(host_.triggers, 0); }
    std::uint64_t take_unit_accesses() { return std::exchange(host_.unit_accesses, 0); }

  private:
    void pass_losses();

    const Program& program_;
    Memory& memory_;
    SinkHost host_;
    std::vector<detect::Thread> thread_of_stream_;
    std::vector<std::unique_ptr<Sink>> sinks_;
};

}  // namespace autofinity::sim
