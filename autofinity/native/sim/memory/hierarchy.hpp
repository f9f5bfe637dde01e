// The parts of the memory, and how lines move down through them: lines that come into a cache, and
// lines that must leave for them. An L1's victim goes into an L2 that excludes the L1, that of an
// L2 into an LLC that is its victim cache; A line that leaves an inclusive LLC leaves the cores
// around it too (back-invalidation), and a line that loses its entry in a probe filter leaves all
// cores (recall). Dirty lines finally go to DRAM.
#pragma once

#include <algorithm>
#include <cstdint>

#include "busy_lines.hpp"
#include "core_caches.hpp"
#include "directory.hpp"
#include "interconnect.hpp"
#include "llc_choice.hpp"
#include "llcs.hpp"
#include "machine_kind.hpp"
#include "pages.hpp"
#include "probe_filters.hpp"
#include "sim/machine.hpp"
#include "sim/program/program.hpp"
#include "sim/types.hpp"
#include "under_way.hpp"

namespace autofinity::sim {

class Hierarchy {
  public:
    // At most `most_cores` have caches at a time.
    Hierarchy(const MachineModel& of, const Program& program, PageSettings page_settings,
              std::uint64_t seed, std::uint32_t most_cores);
    Hierarchy(const Hierarchy&) = delete;  // its parts know each other
    Hierarchy& operator=(const Hierarchy&) = delete;

    const MachineModel& machine;
    Pages pages;                 // node and frame of each page
    BusyLines busy;              // contended lines that are on their way
    BusyLines arriving;          // lines on their way from memory
    const LlcChoice llc_choice;  // LLC that may have a line
    CoreCaches cores;            // L1, L2 and TLBs of cores in use, by L2 domains
    Llcs llcs;                   // last-level caches
    Directory directory;         // who has each line
    ProbeFilters filters;        // directories of finite size
    Interconnect interconnect;   // links, fabrics and memory controllers

    // `tag`: the way of `set` that kept the tag when the line was removed; -1: none.
    template <MachineKind kind>
    void into_l1(PrivateCaches& c, Word* set, int tag, Word word, UnderWay& w);
    // Where L1 and L2 are exclusive the line must not be in the L1.
    template <MachineKind kind>
    void into_l2(PrivateCaches& c, Line line, Word state, UnderWay& w);
    template <MachineKind kind>
    void into_llc(std::uint32_t llc, Line line, UnderWay& w);
    // Gives a line an entry in its probe filter. `held`: some cache has the line, so it has an
    // entry.
    [[gnu::always_inline]] void into_filter(Line line, bool held, UnderWay& w) {
        if (const Line out = filters.track(line, pages.home(line), pages.physical(line), held);
            out != 0)
            recall(out, w);
    }
    // The LLC that may have a line for the cores of `llc`. The page of the line is mapped.
    template <MachineKind kind>
    std::uint32_t llc_for(std::uint32_t llc, Line line) const {
        if (!Asked<kind>::llcs_by_home(machine)) return llc;
        return llc_choice.of(llc, pages.home(line), pages.physical(line));
    }
    // Makes a line of an LLC the most recent one of its set.
    void touch_in_llc(std::uint32_t llc, Line line) { llcs.touch(llc, line, pages.physical(line)); }
    // Removes a line from an LLC that has it.
    void take_from_llc(std::uint32_t llc, Line line) {
        llcs.remove(llc, line, pages.physical(line));
        directory[line].llcs &= ~(1u << llc);
    }
    [[gnu::always_inline]] void write_dram(std::uint32_t from_llc, std::uint32_t from_node,
                                           Line line, UnderWay& w) {
        const Ticks wait =
            interconnect.write_dram(from_llc, from_node, pages.home(line), w.now, *w.counts);
        w.room = std::max(w.room, w.now + wait);
    }
    // Removes all lines from the L1 and the L2 of a core that has the L2 to itself.
    void empty(PrivateCaches& c, UnderWay& w);

  private:
    template <MachineKind kind>
    void leave_core(const PrivateCaches& c, Word word, UnderWay& w);
    template <MachineKind kind>
    void leave_llc(std::uint32_t llc, Line line, UnderWay& w);
    void recall(Line line, UnderWay& w);
};

template <MachineKind kind>
[[gnu::always_inline]] inline void Hierarchy::into_l1(PrivateCaches& c, Word* set, int tag,
                                                      Word word, UnderWay& w) {
    Counts& n = *w.counts;
    int victim = tag >= 0 ? tag : c.l1.last_invalid(set);
    if (victim < 0) victim = static_cast<int>(c.l1.ways()) - 1;
    const Word old = set[victim];
    c.l1.to_front(set, victim, word);
    if (old == 0) return;
    const Word old_state = state_of(old);
    if (old_state == invalid) {
        ++n[invalid_data_cache_lines_evicted];
        return;
    }
    ++n[is_dirty(old_state) ? modified_data_cache_lines_evicted : clean_data_cache_lines_evicted];
    Word* set2 = c.l2.at(pages.physical(line_of(old)));
    if (Asked<kind>::levels_exclude(c)) {
        if (const Word out = c.l2.insert(set2, old); out != 0) leave_core<kind>(c, out, w);
    } else if (is_dirty(old_state)) {
        if (const int way = c.l2.find(set2, line_of(old)); way >= 0) set2[way] = old;
    }
}

template <MachineKind kind>
[[gnu::always_inline]] inline void Hierarchy::into_l2(PrivateCaches& c, Line line, Word state,
                                                      UnderWay& w) {
    Word out = c.l2.insert(c.l2.at(pages.physical(line)), word_of(line, state));
    if (out == 0) return;
    if (Asked<kind>::shares_l2(c)) [[unlikely]] {
        out = cores.domain(c.domain).evict_from_l1s(c, out, w);
    } else if (!Asked<kind>::levels_exclude(c)) {
        Word* set1 = c.l1.at(line_of(out));
        if (const int way = c.l1.find(set1, line_of(out)); way >= 0) {
            if (state_of(set1[way]) != invalid) out = set1[way];
            set1[way] = 0;
        }
    }
    leave_core<kind>(c, out, w);
}

template <MachineKind kind>
[[gnu::noinline]] void Hierarchy::leave_core(const PrivateCaches& c, Word word, UnderWay& w) {
    const Line line = line_of(word);
    const bool dirty = is_dirty(state_of(word));
    const std::uint32_t llc = llc_for<kind>(c.llc, line);
    const std::uint32_t domain = c.domain;
    DirectoryLine& d = directory[line];
    ++(*w.counts)[l2_evictions];
    if (dirty) ++(*w.counts)[l2_writebacks];
    if (!Asked<kind>::many_sharers(directory.more_words()))
        directory.sharers<false>(line, d).remove(domain);
    else
        directory.sharers(line, d).remove(domain);
    if (d.owner_plus_one == domain + 1) d.owner_plus_one = 0;
    if (llc != c.llc && (d.llcs >> llc & 1) == 0)
        interconnect.to_llc(llc, c.llc, c.node, w.now, *w.counts);
    if (!Asked<kind>::llc_includes(machine)) into_llc<kind>(llc, line, w);
    if (dirty) d.dirty_llc_plus_one = static_cast<std::uint8_t>(llc + 1);
}

template <MachineKind kind>
[[gnu::always_inline]] inline void Hierarchy::into_llc(std::uint32_t llc, Line line, UnderWay& w) {
    DirectoryLine& d = directory[line];
    const std::uint32_t bit = 1u << llc;
    if ((d.llcs & bit) != 0) {
        touch_in_llc(llc, line);
        return;
    }
    d.llcs |= bit;
    if (const Line out = llcs.insert(llc, line, pages.physical(line)); out != 0)
        leave_llc<kind>(llc, out, w);
}

// The array has dropped the line already; here the directory and the cores are notified.
template <MachineKind kind>
[[gnu::always_inline]] inline void Hierarchy::leave_llc(std::uint32_t llc, Line line, UnderWay& w) {
    DirectoryLine& d = directory[line];
    Counts& n = *w.counts;
    ++n[llc_evictions];
    d.llcs &= ~(1u << llc);
    bool dirty = d.dirty_llc_plus_one == llc + 1;
    if (dirty) d.dirty_llc_plus_one = 0;
    if (Asked<kind>::llc_includes(machine)) {
        directory.sharers(line, d).take(cores.domains_of_llc(llc), [&](auto number) {
            L2Domain& domain = cores.domain(number);
            domain.each_copy(line, [&](PrivateCaches&) { ++n[back_invalidations]; });
            dirty |= is_dirty(domain.drop(line));
            domain.tell_lost(line, false, w);
            if (d.owner_plus_one == number + 1) d.owner_plus_one = 0;
        });
    }
    if (dirty) {
        ++n[llc_writebacks];
        write_dram(llc, interconnect.node_of_llc(llc), line, w);
    }
    if (Asked<kind>::limits_directory(machine) && d.llcs == 0 &&
        directory.in_no_core<kind>(line, d))
        filters.untrack(line, pages.home(line), pages.physical(line));
}

}  // namespace autofinity::sim
