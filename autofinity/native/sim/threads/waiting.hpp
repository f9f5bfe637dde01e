// What streams wait for each other at: locks, barriers, tasks and tokens.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/replay/stream.hpp"

namespace autofinity::sim {

// Who has a lock, and where it was taken.
struct Holder {
    std::uint32_t stream = nobody;
    std::uint32_t source = 0, step = 0;
};

// Held by one stream, or by any number of readers. Who waits comes in order, but for readers:
// they wait for a writer only, and come before writers that wait (glibc's default).
struct Lock {
    Holder holder;
    std::uint32_t depth = 0;
    std::vector<Holder> readers;
    std::vector<std::uint32_t> waiters;
    std::uint32_t waiting_readers = 0;
};

struct Barrier {
    std::uint32_t expected = 0;
    std::uint32_t generation = 0;
    std::vector<std::uint32_t> waiting;
};

// Tasks of a team: those that nobody has begun, in order of creation, and how many have not
// ended.
struct TaskQueue {
    std::vector<std::uint32_t> created;
    std::size_t first = 0;
    std::uint32_t unfinished = 0;
};

struct Token {
    Ticks posted_at = 0;
    std::uint32_t core_plus_one = 0;
};

struct TokenWaiter {
    std::uint32_t stream;
    Resume as;  // choose: one of its frames waits; retry: the stream itself, before a lock
};
using TokenWaiters = std::unordered_map<std::uint32_t, std::vector<TokenWaiter>>;

}  // namespace autofinity::sim
