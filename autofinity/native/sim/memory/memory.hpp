// Everything between a core and DRAM: private caches, last-level caches, the directory that keeps
// them coherent, pages, controllers and links.
//
//     core ── L1 ── L2 ──┐
//     core ── L1 ─┬ L2 ──┴─ LLC of the domain ── directory at the home node ── DRAM
//     core ── L1 ─┘
//
// hierarchy.hpp names these parts, one on each line. The operations on them are above: coherence
// owns the parts; translation, prefetching and migration of pages use coherence.
//
// A page walk and a prefetch are ordinary loads of the core from the cache in which they begin
// (translation.hpp, prefetching.hpp).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "coherence.hpp"
#include "foreseen.hpp"
#include "foresight.hpp"
#include "hierarchy.hpp"
#include "machine_kind.hpp"
#include "page_migration.hpp"
#include "pages.hpp"
#include "prefetching.hpp"
#include "private_caches.hpp"
#include "sim/machine.hpp"
#include "sim/program/program.hpp"
#include "sim/types.hpp"
#include "translation.hpp"
#include "under_way.hpp"

namespace autofinity::sim {

class Memory {
  public:
    Memory(const MachineModel& machine, const Program& program, PageSettings page_settings,
           std::uint64_t seed);

    // Cores that can have caches at a time: 64, or all where more threads than that run.
    std::uint32_t most_cached_cores() const { return hierarchy().cores.most(); }
    // Number of cached cores so far.
    std::uint32_t cached_cores() const { return hierarchy().cores.count(); }
    bool has_room() const { return hierarchy().cores.has_room(); }
    bool in_use(std::uint32_t core) const { return hierarchy().cores.has(core); }
    // Number of a core, given on first use. Throws SimulationError where there is no room.
    std::uint32_t cached_core_of(std::uint32_t core) { return hierarchy().cores.number_of(core); }
    // The core's lines leave it, and its number is free for another one. Nothing may run there.
    void release(std::uint32_t cached_core);
    PrivateCaches& caches(std::uint32_t cached_core) { return hierarchy().cores[cached_core]; }

    // Number of a line in physical memory: its place in an L2 or LLC.
    std::uint32_t physical(Line line) const { return hierarchy().pages.physical(line); }
    // LLCs that may have the lines of an LLC's cores, and the one of them for a line.
    const std::vector<std::uint32_t>& llcs_for(std::uint32_t llc) const {
        return hierarchy().llc_choice.group(llc);
    }
    std::uint32_t llc_for(std::uint32_t llc, Line line) const {
        return hierarchy().llc_for<MachineKind::any>(llc, line);
    }
    // Whether no stream has touched the line's page yet, so that an access faults.
    bool faults(Line line) const { return !hierarchy().pages.mapped(line >> page_shift); }
    // Page fault: the kernel places the line's page; returns the time that this keeps the core
    // busy.
    Ticks take_fault(std::uint32_t cached_core, Line line);
    // Begins to prefetch the data that the accesses after `at` will read if they miss, into the
    // host's caches, if that pays. Changes only `seen`, the knowledge about them.
    bool worth_foresight() const { return foresight_.pays(); }
    void foresee(PrivateCaches& c, const Step* at, Foreseen& seen) const {
        foresight_.look_ahead(c, at, seen);
    }
    // Whether an access would find its line in the L1.
    bool hits_l1(std::uint32_t cached_core, const Step& step) const;
    // Carries an access to a mapped page out at `now`, once the page has been translated.
    // `faulted`: a fault has just written the page-table entry.
    Served access(std::uint32_t cached_core, const Step& step, Ticks now, bool faulted);

    // The memory management unit of a core changes an entry of a table of its own; returns when it
    // may.
    Ticks change_entry(std::uint32_t cached_core, Line line, Ticks now);

    // Operations before a window of a run begins (warming.cpp).
    //
    // Places a page that no stream has touched yet as a fault of a core of this node would place
    // it.
    void place_page(std::uint32_t page, std::uint32_t node);
    // An access to a mapped page without time: caches, directory and TLBs change as by any other
    // access, but no prefetcher learns of it.
    void warm(std::uint32_t cached_core, Line line, bool writes);
    // The same for a line that the core has lost to its LLC since, without the TLBs. Where another
    // cache has a part in that, the line comes to the core, as by `warm`.
    void warm_llc(std::uint32_t cached_core, Line line, bool writes);
    // The same for the translation of a line's page only.
    void warm_tlbs(std::uint32_t cached_core, Line line);
    // Empties ways of an LLC that takes the lines leaving the cores, as in the long run with this
    // share of incoming lines that find an empty way: lines that cores took back have left these
    // ways.
    void empty_ways(std::uint32_t llc, double share);
    // Prefetch the data for a line into the host's caches, one after the other.
    void bring_page_near(Line line) const { hierarchy().pages.bring_near(line >> page_shift); }
    void bring_line_near(std::uint32_t cached_core, Line line) const;
    void bring_sets_near(std::uint32_t cached_core, Line line) const;
    // Resets all lines on their way and all requests; the contents of caches stay.
    void forget_times();

    // Lost lines since the last call of clear_lost().
    const std::vector<Lost>& lost() const { return under_way_.lost; }
    void clear_lost() { under_way_.lost.clear(); }
    // The page walk since the last call, if there was one.
    Walk take_walk() { return std::exchange(under_way_.walk, {}); }
    const LlcRequests& any_core(std::uint32_t llc) const { return hierarchy().llcs.requests(llc); }

    const Units& units() const { return hierarchy().pages.units; }
    bool page_mapped(std::uint32_t page) const { return hierarchy().pages.mapped(page); }
    std::uint32_t node_of_page(std::uint32_t page) const { return hierarchy().pages.node(page); }
    // Moves the unit of a page: caches and TLBs forget it, its lines are read and written.
    Moved move_page(std::uint32_t page, std::uint32_t node, Ticks now);
    // All TLBs forget the translation of the page's unit; returns the cores that had it.
    CachedCoreSet shoot_down(std::uint32_t page) { return translation_.shoot_down(page); }

    // Time for a line that one core has modified to another core.
    Ticks transfer(std::uint32_t from_core, std::uint32_t to_core) const;
    // Lines of a cache, each with its state; that of an LLC is M where it must write the line back,
    // otherwise S. Empty where the core has not been in use.
    std::vector<Word> l1_contents(std::uint32_t core) const;
    std::vector<Word> l2_contents(std::uint32_t core) const;
    std::vector<Word> llc_contents(std::uint32_t llc) const;
    // Throws SimulationError, which names the first broken invariant.
    void check() const;

  private:
    template <MachineKind kind>
    Served access_on(PrivateCaches& c, const Step& step, Ticks now, bool faulted);

    template <MachineKind kind>
    Ticks change_entry_on(PrivateCaches& c, Line line, Ticks now);
    template <MachineKind kind>
    void warm_on(PrivateCaches& c, Line line, bool writes);
    // False: the set is empty.
    bool empty_way(std::uint32_t llc, std::uint32_t set);

    Hierarchy& hierarchy() { return coherence_.hierarchy(); }
    const Hierarchy& hierarchy() const { return coherence_.hierarchy(); }

    const MachineKind kind_;
    Coherence coherence_;      // the hierarchy, and who gets and loses a line of it
    Translation translation_;  // TLBs, walks, faults
    Prefetching prefetching_;  // requests of the prefetchers
    PageMigration migration_;  // pages that go to another node
    Foresight foresight_;      // prefetching into the host's caches
    UnderWay under_way_;       // the present operation, and its results
};

}  // namespace autofinity::sim
