// A stream of a program: how far it has come, what it waits for, and what it has counted.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "deferred.hpp"
#include "sim/counts.hpp"
#include "sim/memory/foreseen.hpp"
#include "sim/program/program.hpp"
#include "sim/types.hpp"

namespace autofinity::sim {

inline constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint64_t no_instruction = std::numeric_limits<std::uint64_t>::max();

enum class Status : std::uint8_t { running, ready, blocked, absent };
// What a woken stream does first: take the lock's line, read the barrier's, look at its step
// again, or look for something it can go on with.
enum class Resume : std::uint8_t { nothing, take_lock, leave_barrier, retry, choose };

inline constexpr std::uint32_t open_bursts = 16;

// A burst that has been carried out, and may be under way still.
struct OpenBurst {
    std::uint64_t start = 0;  // instruction of the stream
    Step step{};              // to line 0: none
    std::uint64_t end() const { return start + step.span(); }
    Step rest_after(std::uint64_t from) const;
};

// Steps of a unit with the lines of the stream that runs it.
using MovedSteps = std::shared_ptr<const std::vector<Step>>;

// A suspended position of a stream, and what it goes on after: the post of a token, the release
// of a barrier, or (its own code) the chunks of a loop.
enum class Until : std::uint8_t { posted, released, units_done };
struct Frame {
    const Step* at;
    const Step* begin;
    MovedSteps moved;
    std::uint32_t begin_at;
    std::uint32_t source;
    Until until;
    std::uint32_t object;      // token or barrier
    std::uint32_t generation;  // of the barrier
    std::uint32_t instance;
    bool repeat;  // own code: only when no unit of the instance is left
};

struct Stream {
    const Step* at = nullptr;
    const Step* begin = nullptr;  // of the array `at` points into, for messages
    Foreseen foreseen;
    MovedSteps moved;            // that `begin` is of, where a unit of another stream needs its own
    std::uint32_t begin_at = 0;  // place of *begin among the steps of `source`
    std::uint32_t source = 0;    // stream whose steps these are (work units move)
    std::uint64_t instructions = 0;
    std::uint64_t skip = 0;                     // part of the next gap that has gone by already
    std::array<OpenBurst, open_bursts> open{};  // the latest ones; a power of two
    std::uint32_t next_open = 0;
    std::uint64_t bursts_end = 0;  // instruction at which all open bursts are over
    DeferredSteps deferred;
    std::vector<Frame> frames;        // suspended positions of nested work units
    std::uint32_t resumable = 0;      // frames whose token or barrier has come
    std::uint32_t instance = nobody;  // of the chunk under way or last seen
    std::uint32_t process = 0;
    std::uint32_t pu = 0;
    Status status = Status::absent;
    bool placed = false;  // by the operating system
    Ticks left_pu = 0;    // when it last ran
    Resume resume = Resume::nothing;
    Line resume_line = 0;
    Ticks ready_at = 0;
    Ticks blocked_at = 0;
    Ticks accounted = 0;  // up to here the stream's time is in its counts
    // Since it came to this kind of core, and the instructions it had then.
    Ticks run_ticks = 0, halted_ticks = 0, sync_ticks = 0, stall_ticks = 0;
    std::uint64_t settled_instructions = 0;
    Counts counts{};
    // Values at the last sample and at the start of the region.
    Counts sampled{}, baseline{}, final{};
    std::uint64_t any_reads = 0, any_modifies = 0;  // of the LLC domains it was in
    LlcRequests any_seen{};
    std::uint64_t last_instructions = 0;
};

}  // namespace autofinity::sim
