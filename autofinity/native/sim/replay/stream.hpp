// A stream of a program: its progress, its waits, and its counts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "account.hpp"
#include "deferred.hpp"
#include "open_bursts.hpp"
#include "position.hpp"
#include "sim/memory/foreseen.hpp"
#include "sim/types.hpp"

namespace autofinity::sim {

// State that a stream restores at the beginning of a region.
struct Progress {
    Position position;
    std::uint64_t skip = 0;  // part of the next gap that has gone by already
    NestedUnits units;
    Resume resume = Resume::nothing;  // what it does first when it runs again
    Line resume_line = 0;
};

struct Stream : Progress {
    std::uint64_t instructions = 0;
    Foreseen foreseen;
    OpenBursts bursts;
    DeferredSteps deferred;
    Account account;

    std::uint32_t process = 0;
    std::uint32_t pu = 0;
    Status status = Status::absent;
    bool placed = false;  // by the operating system
    Ticks left_pu = 0;    // when it last ran
    Ticks ready_at = 0;
    Ticks blocked_at = 0;

    std::uint64_t rest_of_gap() const {
        const std::uint64_t gap = position.at->gap();
        return gap - std::min(skip, gap);
    }
    // Whether a barrier keeps it.
    bool waits_at_barrier() const {
        if (resume == Resume::choose)
            return !units.frames.empty() && units.frames.back().until == Until::released;
        return resume == Resume::leave_barrier;
    }
    // Undoes its progress.
    void forget() {
        skip = 0;
        units = {};
        resume = Resume::nothing;
        bursts.clear();
        deferred.clear();
    }
    void begin_again(const Progress& start) {
        static_cast<Progress&>(*this) = start;
        foreseen = {};
    }
};

}  // namespace autofinity::sim
