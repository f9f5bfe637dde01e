// A PU: what runs on it and waits for it, its time, and the misses that are under way.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/machine.hpp"
#include "stream.hpp"

namespace autofinity::sim {

inline constexpr std::size_t max_in_flight = 32;

struct InFlight {
    std::uint64_t limit;  // instruction that cannot issue before `ready`
    Ticks ready;
};

struct Pu {
    std::uint32_t core = 0, slot = nobody;
    const CoreClass* kind = nullptr;
    std::uint32_t stream = nobody;
    Ticks time = 0;
    Ticks key = 0;  // when its next step is due
    Ticks instruction = 0;
    Ticks shared_instruction = 0;               // while a sibling issues too
    std::vector<std::uint32_t> siblings;        // other PUs of the core
    bool shares = false;                        // a sibling has a stream
    Ticks stalled_from = 0, stalled_until = 0;  // the latest time in which nothing could issue
    Ticks slice_end = 0;
    std::uint64_t watch = 0;  // instruction at which something is due besides the next step
    std::array<InFlight, max_in_flight> ring{};
    std::uint32_t ring_head = 0, ring_count = 0;
    std::vector<std::uint32_t> queue;  // streams that are ready, in order
    std::uint32_t last_stream = nobody;
};

}  // namespace autofinity::sim
