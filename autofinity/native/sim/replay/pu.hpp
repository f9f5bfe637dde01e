// A PU: its running and waiting streams, its time, and its misses under way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "miss_window.hpp"
#include "sim/machine.hpp"
#include "stream.hpp"

namespace autofinity::sim {

struct Pu {
    std::uint32_t core = 0;
    std::uint32_t cached_core = nobody;
    const CoreClass* kind = nullptr;
    std::uint32_t stream = nobody;
    Ticks time = 0;
    Ticks key = 0;  // when its next step is due
    Ticks instruction = 0;
    Ticks shared_instruction = 0;               // while a sibling issues too
    std::vector<std::uint32_t> siblings;        // other PUs of the core
    bool shares = false;                        // a sibling has a stream
    std::uint32_t window = 0;                   // instructions past an unfinished miss
    std::uint32_t most_misses = 0;              // under way at once
    bool parts_core = false;                    // window or miss buffers, with siblings
    bool wants_buffer = false;                  // siblings have the miss buffer it waits for
    Ticks stalled_from = 0, stalled_until = 0;  // the latest time in which nothing could issue
    Ticks slice_end = 0;
    std::uint64_t watch = 0;  // instruction at which something is due besides the next step
    MissWindow misses;
    std::vector<std::uint32_t> queue;  // streams that are ready, in order
    std::uint32_t last_stream = nobody;

    bool shares_misses() const { return shares && kind->smt_shares_misses; }
    // To be called after each change of its misses, or of the skips and deferred steps of its
    // stream.
    void set_watch(const Stream& s) {
        std::uint64_t next = misses.limit();
        if (!s.deferred.empty()) next = std::min(next, s.deferred.first().at);
        watch = s.skip != 0 ? 0 : next;
    }
    // Instructions that its stream has done by `at`, which may be in the middle of a gap.
    std::uint64_t instructions_at(const Stream& s, Ticks at) const {
        return s.instructions + std::min<std::uint64_t>((at - time) / instruction, s.rest_of_gap());
    }
    // Its stream has to leave it in the middle of a gap: the computed part is kept, or a gap longer
    // than a time slice would restart in every slice.
    void compute_until(Stream& s, Ticks until) {
        if (until <= time || s.resume != Resume::nothing) return;
        std::uint64_t left = s.rest_of_gap();
        if (!s.deferred.empty())
            left = std::min(
                left, s.deferred.first().at - std::min(s.deferred.first().at, s.instructions));
        const std::uint64_t done = std::min<std::uint64_t>((until - time) / instruction, left);
        s.instructions += done;
        s.skip += done;
        time += done * instruction;
    }
};

}  // namespace autofinity::sim
