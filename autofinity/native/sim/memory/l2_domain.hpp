// An L2 and the cores in use that share it; one core where L2s are private or there is none. For
// the directory it is one holder of lines. Its cores keep their L1s coherent among themselves,
// without the directory:
//
// A shared L2 holds all lines of its L1s, and its word has the state of the domain: M, E or O where
// the domain is the directory's owner. An L1 has a line M or E only if no other L1 of the domain
// has it; otherwise its copies are S (or O), and the L2 must be asked before a store. Lines go from
// one L1 to another through the L2, at its latency.
#pragma once

#include <cstdint>
#include <vector>

#include "busy_lines.hpp"
#include "pages.hpp"
#include "private_caches.hpp"
#include "sets.hpp"
#include "sim/counts.hpp"
#include "sim/machine.hpp"
#include "sim/types.hpp"
#include "under_way.hpp"

namespace autofinity::sim {

class L2Domain {
  public:
    // The domain of `core`. `may_be_shared`: several cores of the machine have the L2.
    L2Domain(const MachineModel& machine, std::uint32_t core, bool may_be_shared,
             const Pages& pages, BusyLines& busy);

    const Sets l2;
    const std::uint32_t number;  // in the machine
    const std::uint32_t llc, node;
    const bool is_shared;

    const std::vector<PrivateCaches*>& cores() const { return cores_; }
    void join(PrivateCaches& c);
    // The core goes out of use. Lines that only its L1 has are written to the L2.
    void leave(PrivateCaches& c);

    // The state of the domain's copy.
    Word state(Line line) const;
    // Sets the state that the directory decides.
    void set_state(Line line, Word state);
    // Removes the line and returns its state; the L1s keep the tag, so that the next miss is
    // classified correctly.
    Word drop(Line line);
    // Notifies the streams on the cores that the domain has lost the line, or the right to write
    // it.
    void tell_lost(Line line, bool only_write, UnderWay& w) const {
        for (const PrivateCaches* c : cores_) w.lost.push_back({c->number, line, only_write});
    }
    // Visits the cores that have a copy of the line in their L1; the first core where only the L2
    // has it.
    template <typename Visit>
    void each_copy(Line line, Visit&& visit) const;
    // The core that answers for the copy: the first that has it in its L1, if any.
    Counts& counts_of_copy(Line line) const;

    // Functions for a shared L2.
    //
    // The L2 has a line that the core's L1 misses at `now`. Other L1s release what the access
    // needs; returns the state that the line then has in the L1, `ready`.
    Word take(PrivateCaches& c, Line line, bool load, Ticks now, Ticks& ready, bool& contended,
              UnderWay& w);
    // The domain may write the line; the core's L1 has to ask, for others may have it.
    Ticks upgrade(PrivateCaches& c, Line line, Ticks now, bool& contended, UnderWay& w);
    // Invalidates the copies in the other L1s; returns whether there were any.
    bool take_from_siblings(PrivateCaches& c, Line line, UnderWay& w);
    // The core's fill evicts `out` from the L2: the L1s lose the line too. Returns its latest word.
    Word evict_from_l1s(const PrivateCaches& c, Word out, UnderWay& w);
    // Time when a line requested by the prefetcher of any core was or is due; 0: none recently.
    Ticks due_from_any(Line line);
    // Visits the valid words that other cores have for a line, and those cores.
    template <typename Visit>
    void each_sibling_copy(const PrivateCaches& c, Line line, Visit&& visit) const;

  private:
    Word shared_state(Line line) const;
    void set_shared_state(Line line, Word state);
    Word drop_from_l1s(Line line, Word state);
    // Word of the L2 for a line that it has.
    Word& word_of_l2(Line line) const;

    const Pages& pages_;
    BusyLines& busy_;
    std::vector<PrivateCaches*> cores_;  // in the order in which they came into use
    PrivateCaches* first_ = nullptr;     // of these
};

template <typename Visit>
inline void L2Domain::each_copy(Line line, Visit&& visit) const {
    bool any = false;
    if (is_shared)
        for (PrivateCaches* c : cores_) {
            const Word* set = c->l1.at(line);
            const int way = c->l1.find(set, line);
            if (way < 0 || state_of(set[way]) == invalid) continue;
            any = true;
            visit(*c);
        }
    if (!any) visit(*first_);
}

[[gnu::always_inline]] inline Counts& L2Domain::counts_of_copy(Line line) const {
    Counts* counts = nullptr;
    each_copy(line, [&](PrivateCaches& c) {
        if (counts == nullptr) counts = c.counts;
    });
    return *counts;
}

template <typename Visit>
inline void L2Domain::each_sibling_copy(const PrivateCaches& c, Line line, Visit&& visit) const {
    for (PrivateCaches* other : cores_) {
        if (other == &c) continue;
        Word* set = other->l1.at(line);
        const int way = other->l1.find(set, line);
        if (way >= 0 && state_of(set[way]) != invalid) visit(*other, set[way]);
    }
}

}  // namespace autofinity::sim
