// A resource that serves one line at a time, first come first served: a memory controller, a link.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "sim/machine.hpp"

namespace autofinity::sim {

// Requests come out of order: an access asks all servers on its way at once, each for the time at
// which the access reaches that server. A server that knew only its next free time would let a late
// request wait for all later ones: at a utilisation of 0.3 the mean wait was three times that of an
// M/D/1 queue. So the latest requests are kept in order of arrival, and a late request takes its
// place among them. Requests behind it already have their times; the late request waits for their
// extra time itself, so that the sum of all waits is exact.
class Server {
  public:
    // Serves a request that arrives at `at`; returns the wait. `service` is the same every time.
    [[gnu::always_inline]] Ticks take(Ticks at, Ticks service) {
        if (service == 0) return 0;
        const Request& last = request(next_ - 1);
        if (last.at > at) [[unlikely]]
            return take_late(at, service);
        const Ticks start = std::max(at, last.end);
        request(next_++) = {at, start + service};
        return start - at;
    }

    // Time for which the pending requests keep the server busy after `at`.
    Ticks busy_after(Ticks at) const {
        const Ticks end = recent_[(next_ - 1) % recent_.size()].end;
        return end > at ? end - at : 0;
    }

  private:
    struct Request {
        Ticks at, end;
    };
    static constexpr std::uint32_t most = 16;  // that came in the time an access takes

    // A request that comes after others that have arrived later. Its place is after the one before
    // them, or after the last forgotten request, whenever that arrived.
    [[gnu::noinline]] Ticks take_late(Ticks at, Ticks service) {
        const std::uint32_t oldest = next_ - (most - 1);
        std::uint32_t place = next_++;
        for (; place != oldest && request(place - 1).at > at; --place)
            request(place) = request(place - 1);
        Ticks end = std::max(at, request(place - 1).end) + service;
        Ticks wait = end - service - at;
        request(place) = {at, end};
        for (std::uint32_t i = place + 1; i != next_; ++i) {
            const Ticks start = request(i).end - service;
            if (start >= end) break;
            wait += end - start;
            end += service;
            request(i).end = end;
        }
        return wait;
    }
    Request& request(std::uint32_t number) { return recent_[number % recent_.size()]; }

    // Requests in order of arrival, at their numbers: the last `most` and the one before them.
    // Requests that never existed arrived at 0 and were done.
    std::array<Request, 2 * std::size_t{most}> recent_{};
    std::uint32_t next_ = 0;
};

}  // namespace autofinity::sim
