// Traces made ready for replay, once, for any number of simulations: dense numbers for pages,
// lines, locks, barriers, tokens and work units, and which lines only one thread touches. Several
// traces are several processes; their streams, locks and so on are numbered one after the other.
//
//   trace::Event (24 bytes, virtual line)  ──►  Step (16 bytes, dense line, flags)
//
// Pages are numbered in groups of eight neighbours (32 KiB), so that the low nine bits of a dense
// line number are those of the virtual one: an L1 that is indexed virtually sees its true sets.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "beginning.hpp"
#include "page_tables.hpp"
#include "step.hpp"
#include "trace/trace.hpp"

namespace autofinity::sim {

inline constexpr std::uint32_t lines_per_page = 64;  // 4 KiB pages
inline constexpr std::uint32_t page_shift = 6;
inline constexpr std::uint32_t group_shift = 9;       // lines of a group of eight pages
inline constexpr std::uint32_t max_lines = 1u << 28;  // 16 GiB of touched groups

// Steps after the present one that a replay looks at ahead of time.
inline constexpr std::uint32_t steps_foreseen = 6;

struct StreamPlan {
    std::vector<Step> steps;  // ends with a sentinel, repeated so that one can look ahead
    std::uint64_t instructions = 0;
};

inline constexpr std::uint32_t no_token = 0xFFFFFFFFu;

// Work that any stream of a loop or team may carry out: a chunk of a loop, or a task.
struct Unit {
    std::uint32_t instance;        // loop or team it belongs to
    std::uint32_t order;           // position in the instance
    std::uint32_t stream;          // where its steps are
    std::uint32_t first, last;     // steps from after unit_begin to unit_end
    bool last_of_stream;           // no later unit of the instance in the same stream
    bool task;                     // handed out once it has been created
    bool in_place;                 // a task that its creator ran at once, and waited for
    std::uint32_t own = no_token;  // first of `own_places` of its accesses to own memory, if any
};

struct Instance {
    std::vector<std::uint32_t> units;  // chunks, in the order they are handed out
    std::uint32_t barrier = no_token;  // of the team whose tasks these are
    std::vector<bool> takers;          // streams that may take its tasks
};

// One trace of a run: a process with an address space of its own.
struct Process {
    std::uint32_t first_stream = 0, streams = 0;
    std::uint32_t first_lock = 0, locks = 0;
    std::uint32_t first_barrier = 0, barriers = 0;
    std::uint32_t first_token = 0, tokens = 0;
    std::uint32_t first_instance = 0, instances = 0;
    bool has_roi = false;
    std::uint64_t instructions = 0;
    // Lines for the own memory of each stream when it runs units of other streams; none: 0.
    Line first_own_line = 0;
    std::uint32_t own_lines = 0;  // of each stream
};

class Program {
  public:
    // Throws SimulationError, which names stream and event, for anything that a replay cannot
    // interpret.
    explicit Program(trace::TracePtr trace) : Program(std::vector{std::move(trace)}) {}
    // The same for a trace that is not needed afterwards: the events of each stream are freed once
    // its steps are made.
    explicit Program(trace::Trace&& trace);
    // Several processes.
    explicit Program(const std::vector<trace::TracePtr>& traces);

    // A window of a longer run, and its beginning. The same errors.
    Program(trace::Trace&& whole_window, const WindowStart& start);  // of whole_window.hpp

    std::vector<StreamPlan> streams;
    std::shared_ptr<const Beginning> beginning;  // of a window; otherwise null
    // Objects that the steps refer to.
    std::vector<Process> processes;
    std::vector<Unit> units;
    std::vector<Instance> instances;
    std::vector<std::uint64_t> lock_objects, barrier_objects, tokens;
    std::vector<std::uint32_t> task_of_token;        // the task a post makes ready, or no_token
    std::vector<std::uint32_t> instance_of_barrier;  // whose tasks it waits for, or no_token
    // Tokens awaited inside a critical section before it posts anything: the lock's order is free,
    // but a stream that took the lock early would wait for a post that may need the same lock.
    std::vector<std::vector<std::uint32_t>> lock_needs;
    // For each access to own memory, by streams and steps: its line among those of the stream that
    // runs the unit.
    std::vector<std::uint32_t> own_places;
    std::vector<std::uint64_t> virtual_page;  // of each dense page (process << 36 | page number)
    PageTables tables;
    std::uint32_t n_lines = 0;  // dense lines, those of locks, barriers and tables included
    Line first_lock_line = 0, first_barrier_line = 0;
    // Tables of a memory management unit that keeps account of pages and sharing (sink_host.cpp).
    Line first_history_line = 0, first_matrix_line = 0;
    std::uint64_t accesses = 0, events = 0;

    std::uint32_t n_pages() const { return n_lines >> page_shift; }
    bool has_roi() const { return processes.front().has_roi; }
    // Lines of a row of a sharing matrix, whose elements have 4 bytes.
    std::uint32_t matrix_row_lines() const {
        return static_cast<std::uint32_t>((streams.size() + 15) / 16);
    }
    // Dense page of a virtual page number, or 0.
    std::uint32_t page_of(std::uint32_t process, std::uint64_t virtual_page_number) const;

  private:
    friend class ProgramBuilder;

    // Key of the eight neighbouring pages of a process that are one group.
    static std::uint64_t group_key(std::uint32_t process, std::uint64_t page) {
        return std::uint64_t{process} << 40 | page >> 3;
    }

    std::unordered_map<std::uint64_t, std::uint32_t> group_of_;  // by key
};

using ProgramPtr = std::shared_ptr<const Program>;

}  // namespace autofinity::sim
