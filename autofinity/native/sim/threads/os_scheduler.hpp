// Where an operating system's scheduler puts threads that are not bound: decisions only, from the
// load of every PU. The rules are those of Linux's fair scheduler, cut down to what moves threads:
//
//  · a new thread goes to the idlest PU: at each level of the machine, from the outermost, to the
//    group with least load, staying in its creator's group when no other has less
//    (kernel/sched/fair.c, find_idlest_group);
//  · a woken thread goes back to its PU if that is idle, else to an idle core, then an idle PU, of
//    the last-level cache it used or, when its own is busier, of its waker's (select_idle_sibling,
//    wake_affine; Lozi et al., EuroSys 2016, section 2.2);
//  · a PU that runs dry pulls a waiting thread, nearest queues first (newidle_balance);
//  · every so often, more seldom for larger domains, a thread goes from the busiest group of a
//    domain to the idlest (Documentation/scheduler/sched-domains.rst; Lozi et al., section 2.1).
//    One that runs is moved only after some vain attempts (active balancing).
//
// A seeded generator breaks ties: on a real machine the choice among several idle PUs depends on
// everything that ran before.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/machine.hpp"

namespace autofinity::sim {

class OsScheduler {
  public:
    // Streams that run or wait, by PU.
    using Loads = std::vector<std::uint32_t>;
    struct Move {
        std::uint32_t from, to;
        bool running;  // the stream that runs there; otherwise one that waits
    };

    // `allowed`: PUs of each stream; an empty list means all.
    OsScheduler(const MachineModel& machine, const std::vector<std::vector<std::uint32_t>>& allowed,
                std::uint64_t seed);

    bool may_run(std::uint32_t stream, std::uint32_t pu) const {
        return allowed_[stream].empty() || allowed_[stream][pu];
    }
    // From now on the stream runs there and nowhere else.
    void keep_on(std::uint32_t stream, const std::vector<std::uint32_t>& pus);
    std::uint32_t place_new(std::uint32_t stream, std::uint32_t creator_pu, const Loads& loads);
    std::uint32_t place_woken(std::uint32_t stream, std::uint32_t previous, std::uint32_t waker_pu,
                              const Loads& loads);
    // PUs with waiting streams, nearest to `pu` first.
    std::vector<std::uint32_t> busy_near(std::uint32_t pu, const Loads& loads) const;
    // An idle PU for a stream that has to leave `pu`, the nearest one.
    std::optional<std::uint32_t> idle_near(std::uint32_t stream, std::uint32_t pu,
                                           const Loads& loads);
    // Moves of the `tick`-th balancing in the domains whose turn it is, one thread each.
    std::vector<Move> balance(std::uint64_t tick, const Loads& loads);
    // Ticks until a system thread next takes a PU, and that PU.
    Ticks until_daemon();
    std::uint32_t any_pu() { return static_cast<std::uint32_t>(next() % pus_); }

  private:
    // PUs that have a core, a cache, a node, a package in common; the last level is the machine.
    struct Level {
        std::vector<std::uint32_t> group_of_pu;
        std::vector<std::vector<std::uint32_t>> groups;
        std::vector<std::uint32_t> vain;  // attempts in a row that moved nothing, by group
    };

    void add_level(const std::vector<std::uint32_t>& name_of_pu);
    std::vector<std::uint32_t> packages() const;
    std::uint64_t next();
    std::uint32_t pick(const std::vector<std::uint32_t>& tied) {
        return tied[next() % tied.size()];
    }
    std::optional<std::uint32_t> idle_in(std::uint32_t stream,
                                         const std::vector<std::uint32_t>& pus, const Loads& loads);
    std::optional<Move> even_out(std::size_t level, std::uint32_t group, const Loads& loads);

    const MachineModel& machine_;
    std::uint32_t pus_;
    std::vector<std::vector<bool>> allowed_;
    std::vector<Level> levels_;  // innermost first; level 0 is every PU by itself
    std::size_t llc_level_ = 0;
    std::uint64_t state_;
};

}  // namespace autofinity::sim
