// Foresight: data that the next accesses of a core will read if they miss is brought into the
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
// lines come into the core that way. Addresses that are known first are prefetched the farthest
// ahead, and a result of one step is not computed again by the next. A walk hardly ever finds its
// entry outside of the core, so that only its L2 set is prefetched.
#pragma once

#include <cstddef>

#include "foreseen.hpp"
#include "hierarchy.hpp"
#include "machine_kind.hpp"
#include "private_caches.hpp"
#include "sim/program/program.hpp"
#include "sim/types.hpp"

namespace autofinity::sim {

// Changes only the knowledge about the accesses.
class Foresight {
  public:
    Foresight(const Hierarchy& hierarchy, MachineKind kind);

    // Whether it pays: looking ahead costs a fifth of a miss, without a gain if the host has all
    // data near.
    bool pays() const { return pays_; }
    // Begins to prefetch the data that the accesses of a core after `at` will read.
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
