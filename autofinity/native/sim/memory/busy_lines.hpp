// Lines that are on their way: the next requester waits.
#pragma once

#include <array>

#include "sim/types.hpp"

namespace autofinity::sim {

// With colliding lines the older one is forgotten: nobody waits for it any more.
class BusyLines {
  public:
    // Time at which a request that arrives at `now` is served.
    Ticks wait(Line line, Ticks now) const {
        const Busy& busy = busy_[line % busy_.size()];
        return busy.line == line && busy.until > now ? busy.until : now;
    }
    void forget() { busy_ = {}; }
    void keep(Line line, Ticks until) { busy_[line % busy_.size()] = {line, until}; }

  private:
    struct Busy {
        Line line = 0;
        Ticks until = 0;
    };

    std::array<Busy, 1024> busy_{};
};

}  // namespace autofinity::sim
