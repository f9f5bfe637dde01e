// A resource that serves one line at a time: memory controllers and links.
#pragma once

#include <algorithm>

#include "machine.hpp"

namespace autofinity::sim {

class Server {
  public:
    // Takes the server for `service` ticks from `at` on, or when it is free; returns the wait.
    //
    // Requests come in order only up to the skew: one that is a little late still gets the time
    // before the latest one that the server was idle, or cores would wait for what came after them.
    Ticks take(Ticks at, Ticks service) {
        const Ticks in_gap = std::max(at, idle_from_);
        if (in_gap + service <= idle_until_) {
            idle_from_ = in_gap + service;
            return in_gap - at;
        }
        const Ticks start = std::max(at, free_);
        if (start > free_) {
            idle_from_ = free_;
            idle_until_ = start;
        }
        free_ = start + service;
        return start - at;
    }

  private:
    Ticks free_ = 0;
    Ticks idle_from_ = 0, idle_until_ = 0;  // the latest time it had nothing to do
};

}  // namespace autofinity::sim
