// Foresight: what the next accesses of a core will look at, should they miss, is brought into the
// host's caches while earlier accesses are carried out.
//
// A replayed miss depends on loads that the host misses itself, one after the other:
//
//     its line's directory entry, the set of a finite directory ── entry of what that takes back
//     the L2 set that it comes into, or that of the line which leaves an exclusive L1 for it
//     the line that leaves the L2 for it ── directory entry, LLC set
//     the line that leaves the LLC ── directory entry, set of a finite directory
//
// and so does the line that a prefetcher fetches with it: where streams are fetched ahead, most
// lines come into the core that way. What is known first is begun the farthest ahead, and what one
// of them has found the next ones need not look for. A walk hardly ever finds its entry outside of
// the core, so that no more than its L2 set is brought near.
#pragma once

#include <cstddef>

#include "foreseen.hpp"
#include "hierarchy.hpp"
#include "machine_kind.hpp"
#include "private_caches.hpp"
#include "sim/program/program.hpp"
#include "sim/types.hpp"

namespace autofinity::sim {

// Changes nothing but what is known of the accesses.
class Foresight {
  public:
    Foresight(const Hierarchy& hierarchy, MachineKind kind);

    // Whether it pays: looking ahead costs a fifth of a miss, in vain if the host has all near.
    bool pays() const { return pays_; }
    // Begins to bring near what the accesses of a core after `at` will look at.
    void look_ahead(PrivateCaches& c, const Step* at, Foreseen& seen) const;

  private:
    template <MachineKind kind>
    void look_ahead_on(PrivateCaches& c, const Step* at, Foreseen& seen) const;
    template <MachineKind kind>
    void look_since(PrivateCaches& c, const Step* at, Foreseen& seen, std::size_t passed) const;
    template <MachineKind kind>
    void lines(PrivateCaches& c, Line line, ForeseenMiss& known) const;
    template <MachineKind kind>
    void moves(const PrivateCaches& c, Line line, ForeseenMiss& known) const;
    template <MachineKind kind>
    const Word* fetch(const PrivateCaches& c, Line line) const;
    template <MachineKind kind>
    const Word* leaving(const PrivateCaches& c, const Word* l2_set) const;
    template <MachineKind kind>
    void leaving_llc(const Word* set) const;
    const Word* filter(Line line) const;
    void recall(const Word* set) const;

    const Hierarchy& hierarchy_;
    const MachineKind kind_;
    const bool pays_;
};

}  // namespace autofinity::sim
