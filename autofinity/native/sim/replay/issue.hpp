// Issue of an access that may leave the L1: it waits for a miss buffer, and misses overlap within
// the window.
#pragma once

#include <algorithm>

#include "pu.hpp"
#include "siblings.hpp"
#include "sim/memory/memory.hpp"

namespace autofinity::sim {

class Issue {
  public:
    Issue(const Memory& memory, Siblings& siblings) : memory_(memory), siblings_(siblings) {}

    // Time when an access due at `at` finds a miss buffer, if it needs one.
    Ticks buffer_free(Pu& p, const Step& step, Ticks at) const {
        p.misses.forget_done(at);
        if (p.misses.size() < p.most_misses) return at;
        if (memory_.hits_l1(p.cached_core, step)) return at;
        return p.shares_misses() ? siblings_.buffer_free(p, std::max(at, p.key))
                                 : p.misses.oldest().ready;
    }
    // Time when a step that is no access, due at `at`, can be carried out.
    static Ticks carried_out(const Pu& p, const Step& step, Ticks at) {
        return step.drains() ? p.misses.all_done(at) : at;
    }
    // Whether an action that is due at `at` and possible at `free` only has to wait for another
    // turn: others come first, or siblings, which issue faster in the meantime.
    static bool must_wait(const Pu& p, Ticks at, Ticks free, Ticks horizon) {
        return free > horizon || (p.shares && free > std::max(at, p.key));
    }
    // Gives the turn away until then; returns false, the caller's answer.
    bool put_off(Pu& p, Ticks at, Ticks free) {
        if (p.shares) siblings_.leave_issue(p, at, free);
        p.key = free;
        return false;
    }

    // The stream waits for memory.
    void stall(Pu& p, Stream& s, Ticks from, Ticks until) {
        s.account.stall_ticks += until - from;
        if (p.shares && from != until) siblings_.leave_issue(p, from, until);
    }
    // The window cannot hide the oldest miss any longer at `at`; returns the time without issue.
    Ticks wait_for_oldest_miss(Pu& p, Stream& s, Ticks at) {
        const Ticks ready = p.misses.oldest().ready;
        p.misses.forget_oldest();
        if (ready <= at) return 0;
        stall(p, s, at, ready);
        return ready - at;
    }
    // A miss goes on while later instructions issue, as far as window and miss buffers allow.
    static void overlap(Pu& p, const Stream& s, Ticks ready) {
        p.misses.forget_done(p.time);
        if (p.misses.size() == p.kind->misses_in_flight) {  // a walk of an access that hit the L1
            p.time = std::max(p.time, p.misses.oldest().ready);
            p.misses.forget_oldest();
        }
        p.misses.add({s.instructions + p.window, ready});
        p.set_watch(s);
    }
    // Waits for all misses under way.
    void drain(Pu& p, Stream& s) {
        const Ticks last = p.misses.all_done(p.time);
        p.misses.clear();
        stall(p, s, p.time, last);
        p.time = last;
        p.set_watch(s);
    }

  private:
    const Memory& memory_;
    Siblings& siblings_;
};

}  // namespace autofinity::sim
