// Running streams of the PUs: the queues of PUs, time slices, and waiting streams.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cached_cores.hpp"
#include "os_scheduler.hpp"
#include "sim/interfaces.hpp"
#include "sim/replay/accounting.hpp"
#include "sim/replay/board.hpp"
#include "sim/replay/issue.hpp"
#include "sim/replay/siblings.hpp"

namespace autofinity::sim {

class RunQueues final : public Repeatable {
  public:
    // `os`: places streams; none: they are bound.
    RunQueues(const MachineModel& machine, Board& board, Accounting& accounting, Issue& issue,
              Siblings& siblings, CachedCores& cached_cores, OsScheduler* os)
        : machine_(machine),
          board_(board),
          accounting_(accounting),
          issue_(issue),
          siblings_(siblings),
          cached_cores_(cached_cores),
          os_(os) {}

    // A stream that was blocked or absent is ready.
    void wake(std::uint32_t stream, Ticks at);
    // The stream that runs on a PU has to wait; or has ended.
    void block(std::uint32_t pu, Stream& s);
    void leave(std::uint32_t pu, Stream& s);
    // The stream has used up its time slice. Throws SimulationError where streams do nothing in
    // their slices.
    void end_slice(std::uint32_t pu);
    // All streams of a process leave the machine.
    void take_off(const Process& process, Ticks at);
    // Moves the stream from its PU to another, in any state. The caller updates the order of PUs.
    void move(std::uint32_t stream, std::uint32_t pu, Ticks at);

    // The first waiting stream that could do anything, if `takes` accepts it; or nobody.
    template <typename Takes>
    std::uint32_t first_idle(Takes&& takes) const {
        const auto found = std::find_if(idle_.begin(), idle_.end(), takes);
        return found == idle_.end() ? nobody : *found;
    }
    // Streams that run or wait, by PU.
    OsScheduler::Loads loads() const;

    void remember() override { idle_at_start_ = idle_; }
    void restore() override { idle_ = idle_at_start_; }
    void forget(const Process& process) override;

  private:
    void give_pu(std::uint32_t pu);
    void start_on(std::uint32_t pu, std::uint32_t stream);
    void enqueue(std::uint32_t stream, Ticks at);
    void queue_on(std::uint32_t pu, std::uint32_t stream, Ticks now);
    void place(Stream& s, bool slept);
    bool pull_to(std::uint32_t pu);

    const MachineModel& machine_;
    Board& board_;
    Accounting& accounting_;
    Issue& issue_;
    Siblings& siblings_;
    CachedCores& cached_cores_;
    OsScheduler* os_;
    std::vector<std::uint32_t> idle_, idle_at_start_;
    std::uint32_t idle_slices_ = 0;  // in a row
};

}  // namespace autofinity::sim
