#include <algorithm>
#include <cmath>
#include <set>

#include "sink.hpp"

namespace autofinity::sim {

SinkHost::SinkHost(const MachineModel& machine_of, const Program& program_of, Memory& memory_of,
                   std::size_t threads, OverheadTicks& overhead)
    : machine(machine_of),
      program(program_of),
      memory(memory_of),
      sharing(threads),
      overhead_(overhead),
      first_(memory_of.units().count()) {}

std::vector<PageVector> vectors_of(detect::NumaTable& table) {
    std::vector<PageVector> found;
    for (const std::uint64_t page : table.take_seen()) {
        const auto counts = table.vector_of(page);
        found.push_back({static_cast<std::uint32_t>(page), {counts.begin(), counts.end()}});
    }
    return found;
}

Ticks SinkHost::ticks(double ns) const {
    return static_cast<Ticks>(std::llround(ns * machine.ghz * ticks_per_clock));
}

Ticks SinkHost::change_entries(std::uint32_t cached_core, Ticks now) {
    if (cached_core >= changes_.size() || changes_[cached_core].empty()) return 0;
    Ticks done = now;
    for (const Line line : changes_[cached_core])
        done = memory.change_entry(cached_core, line, done);
    unit_accesses += 2 * changes_[cached_core].size();
    changes_[cached_core].clear();
    return spend(Overhead::update, done - now);
}

// The kernel flushes once for all pages of a round, and every core that has one of them is
// interrupted once.
void SinkHost::arm(const std::vector<std::uint32_t>& pages) {
    if (armed_.empty()) armed_.resize(memory.units().count());
    std::set<std::uint32_t> interrupted;
    for (const std::uint32_t page : pages) {
        armed_[memory.units().of(page)] = 1;
        const CachedCoreSet had = memory.shoot_down(page);
        lose(had, page);
        interrupted.insert(had.begin(), had.end());
    }
    if (interrupted.empty()) return;
    charge(any_cached_core, Overhead::shootdown, machine.shootdown);
    for (const std::uint32_t cached_core : interrupted)
        charge(cached_core, Overhead::interrupt, machine.interrupt);
}

}  // namespace autofinity::sim
