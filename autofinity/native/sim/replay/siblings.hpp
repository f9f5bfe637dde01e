// Hardware threads of one core (SMT) share its issue slots: an instruction takes longer, by the
// core's smt_slowdown, while a sibling issues too, and no longer than alone while all siblings wait
// for memory, are woken up or have nothing to run. Of the window each has its part while a sibling
// has something to run. Miss buffers they may share: whoever comes first gets one, but who has its
// share of them leaves those that come free to one that waits and has not. And they share its
// caches: they take turns in the order of time, even with accesses whose order no other core can
// see.
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
    // When a PU finds a miss buffer that it may have, at `at` or later.
    Ticks buffer_free(Pu& p, Ticks at) const;
    // Whether the PU issues has changed at `at`: siblings in the middle of a gap go on at another
    // speed.
    void tell(const Pu& p, Ticks at);
    // The PU issues nothing between `from` and `until`, for it waits for memory.
    void leave_issue(Pu& p, Ticks from, Ticks until);

  private:
    // How many miss buffers a PU may have at `at`, with those that it has.
    std::uint32_t buffers_of(const Pu& p, Ticks at) const;

    Board& board_;
};

}  // namespace autofinity::sim
