// Carries out the accesses of a stream that may leave the L1.
#pragma once

#include <algorithm>

#include "bursts.hpp"
#include "issue.hpp"
#include "sim/detectors/watching.hpp"

namespace autofinity::sim {

class Accesses {
  public:
    Accesses(const MachineModel& machine, Memory& memory, Issue& issue, Bursts& bursts,
             Watching& watching)
        : machine_(machine), memory_(memory), issue_(issue), bursts_(bursts), watching_(watching) {}

    // An access at instruction `issue`, due at `at`; false when its turn has not come. `next_gap`:
    // instructions until the next step. `watched`: there are detectors to notify.
    template <bool watched>
    bool carry_out(Pu& p, Stream& s, const Step& step, std::uint64_t issue, Ticks at, Ticks horizon,
                   std::uint32_t next_gap);
    // The same, for rare cases.
    bool carry_out(Pu& p, Stream& s, const Step& step, std::uint64_t issue, Ticks at, Ticks horizon,
                   std::uint32_t next_gap);
    // The stream reads or writes the line of a lock or barrier, and waits for the line.
    void touch(Pu& p, Stream& s, Line line, bool write);

    // Number of accesses issued after others that came later.
    std::uint64_t out_of_order() const { return out_of_order_; }

  private:
    const MachineModel& machine_;
    Memory& memory_;
    Issue& issue_;
    Bursts& bursts_;
    Watching& watching_;
    Ticks latest_issue_ = 0;
    std::uint64_t out_of_order_ = 0;
};

template <bool watched>
[[gnu::always_inline]] inline bool Accesses::carry_out(Pu& p, Stream& s, const Step& step,
                                                       std::uint64_t issue, Ticks at, Ticks horizon,
                                                       std::uint32_t next_gap) {
    const bool atomic = step.is_atomic();
    const bool faulted = memory_.faults(step.line());
    const bool induced = watched && watching_.armed(step.line() >> page_shift);
    const bool drained = atomic || faulted || induced;
    // Not before its turn: the reason for its delay may have ended in between, for example a fault
    // that another thread took.
    const Ticks free =
        std::max(p.key, drained ? p.misses.all_done(at) : issue_.buffer_free(p, step, at));
    if (Issue::must_wait(p, at, free, horizon)) return issue_.put_off(p, at, free);
    s.instructions = issue;
    issue_.stall(p, s, at, free);
    p.time = free;
    if (drained) issue_.drain(p, s);
    const Ticks issued = p.time;
    // The kernel works on the core: nothing overlaps with that.
    if (faulted) [[unlikely]]
        p.time += memory_.take_fault(p.cached_core, step.line());
    if (watched && (faulted || induced)) [[unlikely]]
        p.time += watching_.faulted(p, s, step.line(), induced);
    const Ticks begun = p.time;
    // The access asks the memory at its own time, also after a fault or a walk: cores would
    // otherwise act far ahead of the others. The latencies add up all the same.
    out_of_order_ += issued < latest_issue_;
    latest_issue_ = std::max(latest_issue_, issued);
    Served served = memory_.access(p.cached_core, step, issued, faulted || induced);
    served.ready += begun - issued;
    Counts& counts = s.account.counts;
    counts[data_cache_loads] += step.reads();
    counts[data_cache_stores] += step.writes();
    if (atomic) ++counts[atomics];
    const Ticks ready =
        std::max(served.ready, begun + (atomic ? machine_.atomic_hit : p.kind->side.l1_hit));
    if (atomic || served.contended) {
        p.time = ready;
    } else if (step.is_dependent()) {
        const Ticks hidden = next_gap * p.instruction;
        if (ready > begun + hidden) p.time = ready - hidden;
    } else if (served.ready > begun) {
        Issue::overlap(p, s, ready);
    }
    s.account.stall_ticks += begun - issued;
    issue_.stall(p, s, begun, p.time);
    if constexpr (watched)
        p.time += watching_.accessed(p, s, step, served, issued, served.ready - begun);
    if (step.is_burst()) bursts_.remember(s, step, issue);
    if (!memory_.lost().empty()) bursts_.split_lost(issued);
    return true;
}

}  // namespace autofinity::sim
