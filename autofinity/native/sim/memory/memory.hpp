// Everything between a core and DRAM: private caches, last-level caches, the directory that keeps
// them coherent, pages, controllers and links.
//
//     core ── L1 ── L2 ──┐
//     core ── L1 ─┬ L2 ──┴─ LLC of the domain ── directory at the home node ── DRAM
//     core ── L1 ─┘
//
// Below, the parts are in this order: each knows those above it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "busy_lines.hpp"
#include "coherence.hpp"
#include "core_caches.hpp"
#include "directory.hpp"
#include "fills.hpp"
#include "foreseen.hpp"
#include "foresight.hpp"
#include "interconnect.hpp"
#include "llcs.hpp"
#include "machine_kind.hpp"
#include "page_migration.hpp"
#include "pages.hpp"
#include "prefetching.hpp"
#include "private_caches.hpp"
#include "probe_filters.hpp"
#include "sim/machine.hpp"
#include "sim/program/program.hpp"
#include "sim/types.hpp"
#include "translation.hpp"
#include "under_way.hpp"

namespace autofinity::sim {

class Memory {
  public:
    Memory(const MachineModel& machine, const Program& program, Placement placement,
           std::uint64_t seed);
    Memory(const Memory&) = delete;  // its parts know each other
    Memory& operator=(const Memory&) = delete;

    // Cores that can have caches at a time: 64, or all where more threads than that run.
    std::uint32_t most_cached_cores() const { return cores_.most(); }
    // Numbers of cached cores given so far.
    std::uint32_t cached_cores() const { return cores_.count(); }
    bool has_room() const { return cores_.has_room(); }
    bool in_use(std::uint32_t core) const { return cores_.has(core); }
    // Number of a core, given on first use. Throws SimulationError where there is no room.
    std::uint32_t cached_core_of(std::uint32_t core) { return cores_.number_of(core); }
    // The core's lines leave it, and its number is free for another one. Nothing may run there.
    void release(std::uint32_t cached_core);
    PrivateCaches& caches(std::uint32_t cached_core) { return cores_[cached_core]; }

    // Whether nobody has touched the line's page yet, so that an access faults.
    bool faults(Line line) const { return !pages_.mapped(line >> page_shift); }
    // Page fault: the kernel places the line's page; returns how long that keeps the core.
    Ticks take_fault(std::uint32_t cached_core, Line line) {
        return translation_.fault(cores_[cached_core], line);
    }
    // Begins to bring what the accesses after `at` will look at, should they miss, into the host's
    // caches, if that is worth it. Changes nothing but `seen`, what is known of them.
    bool worth_foresight() const { return foresight_.pays(); }
    void foresee(PrivateCaches& c, const Step* at, Foreseen& seen) const {
        foresight_.look_ahead(c, at, seen);
    }
    // Whether an access would find its line in the L1.
    bool hits_l1(std::uint32_t cached_core, const Step& step) const;
    // Carries an access to a mapped page out at `now`, once the page has been translated.
    // `faulted`: a fault has just written the page-table entry.
    Served access(std::uint32_t cached_core, const Step& step, Ticks now, bool faulted);

    // Lost lines since the last call of clear_lost().
    const std::vector<Lost>& lost() const { return under_way_.lost; }
    void clear_lost() { under_way_.lost.clear(); }
    // The page walk since the last call, if there was one.
    Walk take_walk() { return std::exchange(under_way_.walk, {}); }
    const LlcRequests& any_core(std::uint32_t llc) const { return llcs_.requests(llc); }

    const Units& units() const { return pages_.units; }
    bool page_mapped(std::uint32_t page) const { return pages_.mapped(page); }
    std::uint32_t node_of_page(std::uint32_t page) const { return pages_.node(page); }
    // Moves the unit of a page: caches and TLBs forget it, its lines are read and written.
    Moved move_page(std::uint32_t page, std::uint32_t node, Ticks now);
    // All TLBs forget the translation of the page's unit; returns the cores that had it.
    CachedCoreSet shoot_down(std::uint32_t page) { return translation_.shoot_down(page); }

    // How long a line that one core has modified takes to another one.
    Ticks transfer(std::uint32_t from_core, std::uint32_t to_core) const;
    // Throws SimulationError naming the first broken invariant.
    void check() const;

  private:
    template <MachineKind kind>
    Served access_on(PrivateCaches& c, const Step& step, Ticks now, bool faulted);

    const MachineModel& machine_;
    const MachineKind kind_;
    UnderWay under_way_;  // what is done now, and what has come of it

    // What there is.
    Pages pages_;                // node and frame of each page
    BusyLines busy_;             // contended lines that are on their way
    CoreCaches cores_;           // L1, L2 and TLBs of cores in use, by L2 domains
    Llcs llcs_;                  // last-level caches
    Directory directory_;        // who has each line
    ProbeFilters filters_;       // directories of finite size
    Interconnect interconnect_;  // links, fabrics and memory controllers
    // What is done with it.
    Fills fills_;              // what comes into a cache, and what must leave for it
    Coherence coherence_;      // fetches and upgrades
    Translation translation_;  // TLBs, walks, faults
    Prefetching prefetching_;  // what prefetchers ask for
    PageMigration migration_;  // pages that go to another node
    Foresight foresight_;      // what the host will look at
};

}  // namespace autofinity::sim
