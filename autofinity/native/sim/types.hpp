// Basic types that the parts of the simulator exchange.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace autofinity::sim {

// One tick is 1/256 of a clock of the first kind of core, so that an IPC of 1.5 or a latency of
// 40.3 clocks keeps its fraction.
using Ticks = std::uint64_t;
inline constexpr Ticks ticks_per_clock = 256;
inline constexpr std::uint64_t clocks(Ticks ticks) { return ticks / ticks_per_clock; }

// ── Memory ──

// A cache line, by its dense number in the program. Line 0 is never used.
using Line = std::uint32_t;

// Content of a way of a set: line << 3 | state. 0 is an empty way.
using Word = std::uint32_t;

enum State : Word { invalid = 0, shared = 1, exclusive = 2, owned = 3, modified = 4 };

inline constexpr Word state_mask = 7;
inline constexpr Word line_shift = 3;
inline constexpr Word word_of(Line line, Word state) { return line << line_shift | state; }
inline constexpr Line line_of(Word word) { return word >> line_shift; }
inline constexpr Word state_of(Word word) { return word & state_mask; }
// Bits of the states in which a core may read or write its line.
inline constexpr Word states_to_write = 1u << exclusive | 1u << modified;
inline constexpr Word states_to_read = states_to_write | 1u << shared | 1u << owned;
inline constexpr bool is_dirty(Word state) { return state >= owned; }

// Cost of an access, and whether its line was already on its way to another core, which is waited
// for. All other waits overlap with later instructions, also those for lines that other cores must
// release: loads have miss buffers for those as for memory, and stores wait in the store buffer.
struct Served {
    Ticks ready;
    bool contended;
    std::uint8_t supplied;  // 1 + distance of the cache that the line came from; 0: none
};

// Cores that have caches in the simulation are numbered as they come into use: cached cores.
using CachedCoreSet = std::vector<std::uint32_t>;  // in order

// A core lost a line, or the right to write it: to another core, or for lack of room.
struct Lost {
    std::uint32_t cached_core;
    Line line;
    bool only_write;
};

// A page walk, and the unit that the last TLB evicted for it; 0: none.
struct Walk {
    bool happened = false;
    std::uint32_t evicted = 0;
};

// A page that has gone to another node.
struct Moved {
    Ticks cost = 0;             // for the thread that moves it; 0: nothing moved
    Ticks first_line = 0;       // of that, until the first line was copied
    CachedCoreSet shot_down{};  // whose TLBs had it
};

// Requests of the cores of an LLC to it.
struct LlcRequests {
    std::uint64_t reads = 0, modifies = 0;
};

// ── Replay ──

inline constexpr Ticks forever = std::numeric_limits<Ticks>::max() / 4;
// No stream, PU, core or instance.
inline constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint64_t no_instruction = std::numeric_limits<std::uint64_t>::max();

enum class Status : std::uint8_t { running, ready, blocked, absent };
// First action of a woken stream: take the lock's line, read the barrier's, examine its step again,
// or look for other work.
enum class Resume : std::uint8_t { nothing, take_lock, leave_barrier, retry, choose };
// Event after which a suspended position goes on: the post of a token, the release of a barrier, or
// (its stream's own code) the chunks of a loop.
enum class Until : std::uint8_t { posted, released, units_done };

}  // namespace autofinity::sim
