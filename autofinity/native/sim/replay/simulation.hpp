// Replays a program on a machine: cores in simulated-time order, synchronisation, run queues,
// samples. A program may be several processes, which begin at times of their own.
//
// Order. Every PU that has something to run is due at some time. The earliest PU runs until its
// next step is due after that of the second, or touches an object that others wait for: all events
// happen in the order of time. With a `skew`, for experiments, cores may run ahead of the second by
// that time.
//
// Bursts. A step stands for several accesses to one line over a span of instructions. All are
// carried out at once. When another core takes the line before the span is over, accesses that were
// not due yet are taken back and replayed later (`Deferred`), so false sharing shows every
// transfer.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "options.hpp"
#include "parts.hpp"

namespace autofinity::sim {

// Measurements of a window besides counts: from the end of its lead to its own end, when the first
// stream had no event left and would have gone on, or none had events left.
struct MeasuredWindow {
    Ticks duration = 0;
    std::uint64_t barriers = 0;      // that all came to, each time
    std::vector<Ticks> at_barriers;  // of each stream: it waited so long
    std::vector<Ticks> after_end;    // of each stream: it had no event left for so long
};

class Simulation {
  public:
    // `machine` and `program` are shared by any number of simulations and never changed.
    Simulation(std::shared_ptr<const MachineModel> machine, ProgramPtr program, Options options);

    // Runs `duration` further into the region of interest; the first call first replays the events
    // before it. Returns whether the region has ended. Throws SimulationError on a deadlock or a
    // trace that cannot be replayed.
    bool advance(Ticks duration);
    bool run() { return advance(forever); }

    // For a window: runs it. The first `lead` (a share of the window's instructions, 0 to 1) warms
    // state that its beginning does not hold and is not counted. Throws SimulationError as above.
    MeasuredWindow run_window(double lead);

    bool ended() const { return parts_.regions.all_ended(); }
    Ticks elapsed() const { return parts_.regions.elapsed(); }
    double progress() const { return parts_.regions.progress(); }
    const std::vector<Sample>& samples() const { return parts_.samples.all(); }
    // Counts of each stream in the region of its process.
    std::vector<Counts> totals() const { return parts_.regions.totals(); }
    RegionTimes times_of(std::uint32_t process) const { return parts_.regions.times_of(process); }
    // Instructions that a stream has done since it began.
    std::uint64_t position_of(std::uint32_t stream) const {
        return parts_.board.streams[stream].instructions;
    }
    const Memory& memory() const { return parts_.memory; }
    const Program& program() const { return *parts_.program; }
    const MachineModel& machine() const { return *parts_.machine; }

    // Binds a stream between two calls of advance. Unless it is to `stay`, an operating system may
    // move the stream again.
    void bind(std::uint32_t stream, std::uint32_t pu, bool stay);
    // An operating system moves the stream among these PUs only, from now on.
    void confine(std::uint32_t stream, const std::vector<std::uint32_t>& pus);
    // Whether the stream runs, or waits for nothing but a PU.
    bool runnable(std::uint32_t stream) const {
        const Status status = parts_.board.streams[stream].status;
        return status == Status::running || status == Status::ready;
    }
    std::uint32_t pu_of(std::uint32_t stream) const { return parts_.board.streams[stream].pu; }
    // Returns the cost to the thread that moves the page, in ticks: 0 when the page is there
    // already or not yet touched. Threads on cores that had its translation pay for the interrupt
    // themselves.
    Ticks move_page(std::uint32_t process, std::uint64_t virtual_page, std::uint32_t node) {
        return parts_.page_moves.move(process, virtual_page, node);
    }
    // Node of a page, or -1 while it is untouched.
    std::int64_t node_of_page(std::uint32_t process, std::uint64_t virtual_page) const;
    // The first page (process << 36 | number) and the node of each unit that a program has touched.
    std::vector<std::pair<std::uint64_t, std::uint32_t>> touched_pages() const;
    // Throws where caches and directory disagree, or an access was issued after a later one.
    void check() const;

    // Detectors, and their findings since the last call. None: nothing.
    Detection* detection() { return parts_.watching.detection(); }
    std::uint64_t virtual_page(std::uint32_t page) const {
        return parts_.program->virtual_page[page];
    }
    std::uint32_t node_of(std::uint32_t page) const { return parts_.memory.node_of_page(page); }
    // Time that detectors, moved pages and bound threads have taken from the cores since the last
    // call.
    OverheadTicks take_overhead() { return parts_.watching.take_overhead(); }
    // Other work keeps the core of a stream busy for this time.
    void spend(std::uint32_t stream, Ticks duration) {
        parts_.watching.keep_busy(stream, duration);
    }

  private:
    Ticks lead_step(double lead) const;
    bool lead_is_over(double lead) const;

    Parts parts_;
};

}  // namespace autofinity::sim
