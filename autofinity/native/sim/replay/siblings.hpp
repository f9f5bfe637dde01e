// Hardware threads of one core (SMT) share its issue slots: an instruction takes longer, by the
// core's smt_slowdown, while a sibling issues too, and no longer than alone while all siblings wait
// for memory, are woken up or have nothing to run. Each sibling has a part of the window while
// another has something to run. Siblings may share the miss buffers: the first to ask gets one, but
// a sibling with its full share leaves freed buffers to a waiting one without. Siblings also share
// the caches: they take turns in the order of time, even with accesses whose order no other core
// can see.
#pragma once

#include "board.hpp"

namespace autofinity::sim {

class Siblings {
  public:
    explicit Siblings(Board& board) : board_(board) {}

    struct Turn {
        Ticks until = forever;   // when a sibling's turn comes, or one begins to issue again
        Ticks change = forever;  // when the speed may change
    };
    // Sets the speed of a PU whose turn it is, its window, and the misses that it may have.
    Turn share_core(Pu& p, Stream& s, Ticks horizon);
    // Time when a PU finds a miss buffer that it may have, at `at` or later.
    Ticks buffer_free(Pu& p, Ticks at) const;
    // Notifies siblings in the middle of a gap that the PU has begun or ceased to issue at `at`:
    // they continue at another speed.
    void tell(const Pu& p, Ticks at);
    // The PU issues nothing between `from` and `until`, for it waits for memory.
    void leave_issue(Pu& p, Ticks from, Ticks until);

  private:
    // Number of miss buffers that a PU may have at `at`, including those that it has.
    std::uint32_t buffers_of(const Pu& p, Ticks at) const;

    Board& board_;
};

}  // namespace autofinity::sim
