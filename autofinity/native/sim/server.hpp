// A resource that serves one line at a time, first come first served: a memory controller, a link.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "machine.hpp"

namespace autofinity::sim {

// Requests come in order only up to the skew. A server that knew just when it is free next would
// let a late one wait for all that came after it: at a utilisation of 0.3 the mean wait was three
// times that of an M/D/1 queue. So the latest requests are kept in order of arrival, and a late one
// takes its place among them. Those behind it have been told their time already; what it costs them
// it waits itself, so that the sum of all waits is exact.
class Server {
  public:
    // Serves a request that arrives at `at`; returns the wait. `service` is the same every time.
    Ticks take(Ticks at, Ticks service) {
        if (service == 0) return 0;
        if (kept_ == most) forget_oldest();
        const Ticks last_end = kept_ > 0 ? request(kept_ - 1).end : forgotten_end_;
        if (kept_ > 0 && request(kept_ - 1).at > at) [[unlikely]]
            return take_late(at, service);
        const Ticks start = std::max(at, last_end);
        request(kept_++) = {at, start + service};
        return start - at;
    }

  private:
    struct Request {
        Ticks at, end;
    };
    static constexpr std::size_t most = 16;  // within the skew; a power of two

    // One that comes after others that have arrived later.
    Ticks take_late(Ticks at, Ticks service) {
        std::size_t place = kept_++;
        for (; place > 0 && request(place - 1).at > at; --place)
            request(place) = request(place - 1);
        const Ticks before = place > 0 ? request(place - 1).end : forgotten_end_;
        Ticks end = std::max(at, before) + service;
        Ticks wait = end - service - at;
        request(place) = {at, end};
        for (std::size_t i = place + 1; i < kept_; ++i) {
            const Ticks start = request(i).end - service;
            if (start >= end) break;
            wait += end - start;
            end += service;
            request(i).end = end;
        }
        return wait;
    }
    Request& request(std::size_t i) { return recent_[(first_ + i) % most]; }
    void forget_oldest() {
        forgotten_end_ = request(0).end;
        first_ = (first_ + 1) % most;
        --kept_;
    }

    std::array<Request, most> recent_{};  // in order of arrival, from first_ on
    std::size_t first_ = 0, kept_ = 0;
    Ticks forgotten_end_ = 0;  // when the last request before those was done
};

}  // namespace autofinity::sim
