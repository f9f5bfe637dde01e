// Interface of a detector to a replay. Each event returns the time that it keeps its core busy;
// costs of other cores go through `SinkHost`.
#pragma once

#include <limits>
#include <vector>

#include "detect/numa_table.hpp"
#include "detect/sharing_counts.hpp"
#include "sim/machine.hpp"
#include "sim/memory/memory.hpp"
#include "sim/program/program.hpp"
#include "sim/replay/overhead.hpp"

namespace autofinity::sim {

// PU and thread of an event (detect::no_thread: a thread that is not watched).
struct Actor {
    std::uint32_t cached_core, node;
    detect::Thread thread;
};

// A page's accesses from each node.
struct PageVector {
    std::uint32_t page;  // dense
    std::vector<std::uint32_t> counts;
};

std::vector<PageVector> vectors_of(detect::NumaTable& table);

inline constexpr std::uint32_t line_bytes = 64;
inline constexpr std::uint32_t any_cached_core = std::numeric_limits<std::uint32_t>::max();
inline constexpr Ticks never = std::numeric_limits<Ticks>::max();

// Common services for sinks.
class SinkHost {
  public:
    SinkHost(const MachineModel& machine_of, const Program& program_of, Memory& memory_of,
             std::size_t threads, OverheadTicks& overhead);

    const MachineModel& machine;
    const Program& program;
    Memory& memory;
    detect::SharingCounts sharing;
    std::uint64_t triggers = 0;
    // Accesses to memory of the management units' own; an entry that is changed is two, one to read
    // it and one to write it.
    std::uint64_t unit_accesses = 0;

    Ticks ticks(double ns) const;
    // The core of an event spends the time; the time is returned.
    Ticks spend(Overhead kind, Ticks time) {
        overhead_[kind] += time;
        return time;
    }
    // The management unit of a core is to change an entry in memory: when the core next accesses
    // memory, at its time.
    void change_entry(std::uint32_t cached_core, Line line) {
        if (cached_core >= changes_.size()) changes_.resize(cached_core + 1);
        changes_[cached_core].push_back(line);
    }
    // Does so for a core, at `now`; returns how long that takes.
    Ticks change_entries(std::uint32_t cached_core, Ticks now);
    // Line of a page's unit in the page history table, and of an element of the sharing matrix.
    Line history_line(std::uint32_t unit) const { return program.first_history_line + (unit >> 3); }
    Line matrix_line(detect::Thread row, detect::Thread column) const {
        return program.first_matrix_line + row * program.matrix_row_lines() + (column >> 4);
    }

    // Another core, or (any_cached_core) any core that runs the program, spends the time: when the
    // simulation next looks.
    struct Charge {
        std::uint32_t cached_core;
        Overhead kind;
        Ticks time;
    };
    void charge(std::uint32_t cached_core, Overhead kind, Ticks time) {
        if (time != 0) charges_.push_back({cached_core, kind, time});
    }
    bool charged() const { return !charges_.empty(); }
    std::vector<Charge> take_charges() { return std::exchange(charges_, {}); }

    // Clears the present bits of pages: TLBs forget them, and the next access faults.
    void arm(const std::vector<std::uint32_t>& pages);
    bool armed(std::uint32_t page) const {
        return !armed_.empty() && armed_[memory.units().of(page)] != 0;
    }
    void disarm(std::uint32_t page) { armed_[memory.units().of(page)] = 0; }
    // Pages (one of each unit) that the program has touched, in that order.
    const std::vector<std::uint32_t>& touched() const { return touched_; }
    void touch(std::uint32_t page) {
        touched_.push_back(page);
        first_[memory.units().of(page)] = page;
    }
    // The page of its unit that was touched first: one number for all pages of the unit.
    std::uint32_t first_of(std::uint32_t page) const { return first_[memory.units().of(page)]; }
    // Translations that cores have lost since the last call: cached_cores, and a page of the unit.
    struct Loss {
        CachedCoreSet cached_cores;
        std::uint32_t page;
    };
    void lose(const CachedCoreSet& cached_cores, std::uint32_t page) {
        if (!cached_cores.empty()) losses_.push_back({cached_cores, page});
    }
    std::vector<Loss> take_losses() { return std::exchange(losses_, {}); }

  private:
    OverheadTicks& overhead_;
    std::vector<Charge> charges_;
    std::vector<std::vector<Line>> changes_;  // by cached_core
    std::vector<std::uint8_t> armed_;         // by unit; empty until something is
    std::vector<std::uint32_t> touched_;
    Zeroed<std::uint32_t> first_;  // by unit
    std::vector<Loss> losses_;
};

class Sink {
  public:
    explicit Sink(SinkHost& host) : host_(host) {}
    virtual ~Sink() = default;

    // A page fault: the first touch of the page, or one that was induced.
    virtual Ticks faulted(const Actor&, std::uint32_t /*page*/, Line, bool /*induced*/) {
        return 0;
    }
    // Consecutive accesses to a page.
    virtual Ticks accessed(const Actor&, std::uint32_t /*page*/, std::uint64_t /*count*/) {
        return 0;
    }
    // The last TLB lacked the page's unit, and holds it now.
    virtual Ticks walked(const Actor&, std::uint32_t /*page*/) { return 0; }
    // A unit left the last TLB of a core, replaced by another one (`forced` false) or shot down.
    virtual Ticks evicted(std::uint32_t /*cached_core*/, std::uint32_t /*unit*/, bool /*forced*/) {
        return 0;
    }
    // An access was carried out.
    virtual Ticks served(const Actor&, const Step&, const Served&, Ticks /*latency*/) { return 0; }
    // A page was moved to another node.
    virtual void moved(std::uint32_t /*page*/) {}
    // Time of its next action, and the action.
    virtual Ticks next() const { return never; }
    virtual void act(Ticks /*now*/) {}
    // Pages that were seen since the last call.
    virtual std::vector<PageVector> take_pages() { return {}; }

  protected:
    SinkHost& host_;
};

}  // namespace autofinity::sim
