// One decoded trace event, which the reader passes to the simulator, and which hand-made traces in
// tests are built of. The encoding on disk is defined in codec.h and never leaks past the reader.
//
//   stream 0   ──[access][access][lock 7][access][unlock 7]──…   one stream per thread,
//   stream 1   ──[await 1][access][access][barrier 3/0]──────…   events in program order
//
// Time inside a stream is counted in retired instructions (`gap`), never in host time: the
// simulator decides how long they take.
#pragma once

#include <cstdint>
#include <type_traits>

namespace autofinity::trace {

enum class Kind : std::uint8_t {
    // A run of accesses to one 64-byte line. value = virtual address >> 6. `reads` + `writes`
    // accesses, the first at this event, the last `span` instructions later. Other events of the
    // same thread may lie within the span. A replay must expand a run when another core touches
    // the line within the span (false sharing would vanish otherwise).
    access = 0,
    // Mutual exclusion: value = object, aux = 0, or lock_shared for a reader of a read-write lock,
    // which excludes writers only. Order between threads is free in replay, unless a lock is
    // followed directly by an `await` of an earlier unlock's token: then the lock must be taken
    // only once that token is posted (writers of a read-write lock may have several awaits). The
    // lock word's own line is an access event of its own: atomic, after `lock`, and before the
    // `post` that precedes `unlock`. Barriers, conditions and semaphores of POSIX likewise.
    lock = 1,
    unlock = 2,
    // value = object, aux = threads that take part. The n-th arrival of a stream at the object
    // belongs to its n-th generation; no stream leaves before `aux` streams have arrived.
    barrier = 3,
    // Happens-before edges: value = token, unique in the trace. An await ends once the post with
    // the same token has been replayed. Thread creation, join, signal → wait, post → wait, and
    // release → the acquire that saw it are all expressed so.
    post = 4,
    await = 5,
    // Work assigned dynamically (dynamic and guided loops, tasks). value = loop instance << 20 |
    // unit. All events up to unit_end may be replayed by any stream of the loop instance: the first
    // stream that is free in simulated time takes the next unit in order. aux = 0: a chunk or a
    // section; 1: a task. Tasks are numbered by creation and begin with an await of their creation;
    // they lie inside the unit (or the wait) during which their thread ran them, so they nest.
    // Replaying them in place, where they were captured, is always possible.
    unit_begin = 6,
    unit_end = 7,
    // Region of interest of the program (not of a thread). roi_end: value = its number, from 1.
    roi_begin = 8,
    roi_end = 9,
    // First and last event of a stream.
    thread_begin = 10,
    thread_end = 11,
    // Instructions without memory accesses that are worth an event of their own (gap overflow).
    compute = 12,
    // Useful work done, as reported by autofinity_heartbeat(): value = units.
    heartbeat = 13,
};

inline constexpr std::uint16_t lock_shared = 1;

enum Flag : std::uint8_t {
    flag_atomic = 1,       // a read-modify-write or an atomic access; never compacted with others
    flag_first_write = 2,  // the first access of the run is a write
    flag_dependent = 4,    // the next event uses the value: its miss cannot overlap (pointer chase)
};

struct Event {
    std::uint64_t value;   // see Kind
    std::uint32_t gap;     // instructions since the start of the previous event of the stream
    std::uint16_t span;    // access: instructions from the first to the last access of the run
    std::uint16_t aux;     // barrier: participants
    std::uint16_t reads;   // access: number of loads of the run
    std::uint16_t writes;  // access: number of stores of the run
    Kind kind;
    std::uint8_t flags;
    std::uint16_t reserved;
};
static_assert(sizeof(Event) == 24 && std::is_trivially_copyable_v<Event>);

}  // namespace autofinity::trace
