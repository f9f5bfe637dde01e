// The next action of a stream, in 16 bytes: an access, or an event of synchronisation.
//
// The fields are shared by all kinds of steps; each accessor below has one meaning, for the kinds
// it names. Numbers of objects are dense: they index the tables of ProgramTables and of a replay.
#pragma once

#include <cstdint>

#include "sim/types.hpp"
#include "trace/trace.hpp"

namespace autofinity::sim {

class Step {
  public:
    using Kind = trace::Kind;

    Step() = default;  // an access to no line

    // An access, or several to one line over a span of instructions: a burst. `flags`: those of
    // the trace.
    static Step access(Line line, std::uint32_t gap, std::uint16_t span, std::uint16_t reads,
                       std::uint16_t writes, std::uint8_t flags) {
        Step step(line, gap, span, reads, writes, Kind::access, flags & flags_of_trace);
        if (reads + writes > 1 && span > 0) step.flags_ |= burst;
        return step;
    }
    // Any other event. `object`: its lock, barrier, token or work unit, or the work of a heartbeat.
    static Step event(Kind kind, std::uint32_t gap, std::uint32_t object = 0) {
        return {object, gap, 0, 0, 0, kind, 0};
    }
    static Step lock(std::uint32_t gap, std::uint32_t number, bool with_readers) {
        return Step(number, gap, 0, 0, 0, Kind::lock, with_readers ? shared : 0);
    }
    static Step barrier(std::uint32_t gap, std::uint32_t number, std::uint16_t participants) {
        return {number, gap, 0, participants, 0, Kind::barrier, 0};
    }
    // Follows the last event of a stream.
    static Step sentinel() { return {0, 0, 0, 0, 0, kind_of_sentinel, 0}; }
    // Access of a replay to the line of a lock or barrier.
    static Step touch(Line line, bool write) {
        return Step(line, 0, 0, 1, write, Kind::access, write ? trace::flag_atomic : 0);
    }

    // For all kinds.
    bool is(Kind kind) const { return kind_ == kind; }
    bool is_access() const { return kind_ == Kind::access; }
    bool is_sentinel() const { return kind_ == kind_of_sentinel; }
    Kind kind() const { return kind_; }
    std::uint32_t gap() const { return gap_; }  // instructions since the previous step
    // Whether a step that is no access waits for all misses.
    bool drains() const {
        switch (kind_) {
            case Kind::lock:
            case Kind::unlock:
            case Kind::barrier:
            case Kind::await:
            case Kind::roi_end:
                return true;
            default:
                return is_sentinel();
        }
    }

    // For accesses.
    Line line() const { return object_; }
    std::uint16_t reads() const { return reads_; }
    std::uint16_t writes() const { return writes_; }
    std::uint32_t accesses() const { return std::uint32_t{reads_} + writes_; }
    std::uint16_t span() const { return span_; }  // instructions from the first to the last
    bool is_atomic() const { return has(trace::flag_atomic); }
    bool writes_first() const { return has(trace::flag_first_write); }
    // The next step needs the loaded value.
    bool is_dependent() const { return has(trace::flag_dependent); }
    bool is_burst() const { return has(burst); }
    // Facts about an access for the fast path, read once: a set that changes could alias the step.
    class Kinds {
      public:
        // Neither atomic nor dependent: its only cost is its latency, which others may hide.
        bool plain() const { return (flags_ & (trace::flag_atomic | trace::flag_dependent)) == 0; }
        bool burst() const { return (flags_ & Step::burst) != 0; }

      private:
        friend class Step;
        explicit Kinds(std::uint8_t flags) : flags_(flags) {}
        std::uint8_t flags_;
    };
    Kinds kinds() const { return Kinds(flags_); }
    // Accesses of a unit to memory of the thread that runs it (unit_memory.cpp).
    bool is_own_memory() const { return has(own_memory); }

    // For events of synchronisation.
    std::uint32_t lock() const { return object_; }     // lock, unlock
    bool with_readers() const { return has(shared); }  // lock: others may hold it so, too
    // Lock: it may only be taken once all of lock_needs[needs()] are posted.
    bool has_needs() const { return has(needs_tokens); }
    std::uint32_t needs() const { return reads_ | std::uint32_t{writes_} << 16; }
    std::uint32_t barrier() const { return object_; }
    std::uint16_t participants() const { return reads_; }  // barrier
    std::uint32_t token() const { return object_; }        // post, await
    std::uint32_t unit() const { return object_; }         // unit_begin, unit_end
    std::uint32_t work() const { return object_; }         // heartbeat

    // Facts that a program builder learns after it has read the event.
    void become_compute() { kind_ = Kind::compute; }
    void need_tokens(std::uint32_t number) {
        flags_ |= needs_tokens;
        reads_ = static_cast<std::uint16_t>(number & 0xFFFF);
        writes_ = static_cast<std::uint16_t>(number >> 16);
    }
    void be_own_memory() { flags_ |= own_memory; }
    // The same access to another line.
    void move_to(Line line) { object_ = line; }
    // The rest of a burst, as a burst of its own.
    Step rest(std::uint16_t reads, std::uint16_t writes, std::uint16_t span) const {
        Step step(object_, 0, span, reads, writes, kind_, flags_);
        if (span == 0 || step.accesses() == 1) step.flags_ &= static_cast<std::uint8_t>(~burst);
        return step;
    }

  private:
    enum Flag : std::uint8_t {
        own_memory = 0x08,
        shared = 0x10,
        needs_tokens = 0x20,
        burst = 0x40
    };
    static constexpr std::uint8_t flags_of_trace =
        trace::flag_atomic | trace::flag_first_write | trace::flag_dependent;
    static constexpr Kind kind_of_sentinel{0xFE};

    Step(std::uint32_t object, std::uint32_t gap, std::uint16_t span, std::uint16_t reads,
         std::uint16_t writes, Kind kind, int flags)
        : object_(object),
          gap_(gap),
          span_(span),
          reads_(reads),
          writes_(writes),
          kind_(kind),
          flags_(static_cast<std::uint8_t>(flags)) {}

    bool has(int flags) const { return (flags_ & flags) != 0; }

    std::uint32_t object_ = 0, gap_ = 0;
    std::uint16_t span_ = 0, reads_ = 0, writes_ = 0;
    Kind kind_ = Kind::access;
    std::uint8_t flags_ = 0;
};
static_assert(sizeof(Step) == 16);

}  // namespace autofinity::sim
