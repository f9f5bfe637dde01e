#include "warm_start.hpp"

#include <algorithm>

#include "sim/memory/zeroed.hpp"

namespace autofinity::sim {
namespace {

// A line leaves a set of 16 ways after 16 other lines: where sets are hit at random, few lines stay
// until one and a half times as many have come as the caches hold.
constexpr double beyond_capacity = 1.5;
// A line that was read after its last write is dirty if it has stayed in the caches all the time.
// This is certain when fewer lines than the caches hold have been touched since. When more have
// been touched, the longest time between touches of the line decides, which no snapshot has: most
// such lines have been evicted.
constexpr double dirty_within = 1.0;
constexpr std::size_t lines_ahead = 4;
// Number of lines leaving the cores for an LLC from which on they show how full the LLC is.
constexpr double least_traffic = 256;

std::uint64_t lines_of(CacheShape shape) { return std::uint64_t{shape.sets} * shape.ways; }

// Lines of a program that have been seen.
class SeenLines {
  public:
    explicit SeenLines(std::uint32_t lines) : words_(lines / 64 + 1) {}

    // Returns whether the line is new.
    bool add(Line line) {
        std::uint64_t& word = words_[line / 64];
        const std::uint64_t bit = std::uint64_t{1} << line % 64;
        const bool added = (word & bit) == 0;
        word |= bit;
        return added;
    }

  private:
    Zeroed<std::uint64_t> words_;
};

// The caches of an LLC's domain, for the streams in it.
struct Domain {
    std::uint64_t room = 0;   // lines that may still be touched
    std::uint64_t clean = 0;  // the part of these after which earlier writes do not matter
    std::vector<std::uint32_t> cores;
    std::unique_ptr<SeenLines> seen;
};

}  // namespace

void WarmStart::warm() {
    place_pages();
    touch_lines();
    memory_.forget_times();
}

void WarmStart::place_pages() {
    const auto& node_of_core = machine_.topology.node_of_core();
    for (const FirstTouch& touch : program_.beginning->pages)
        memory_.place_page(touch.page, node_of_core[core_of(touch.stream)]);
    // Locks and barriers have been used before the window.
    const std::uint32_t node = node_of_core[core_of(0)];
    for (std::uint32_t page = program_.first_lock_line >> page_shift;
         page << page_shift < program_.first_barrier_line + program_.barrier_objects.size(); ++page)
        memory_.place_page(page, node);
}

std::vector<std::uint32_t> WarmStart::worth_touching() const {
    std::vector<Domain> domains(machine_.topology.llcs());
    const auto& llc_of_core = machine_.topology.llc_of_core();
    for (std::uint32_t stream = 0; stream < board_.streams.size(); ++stream) {
        const std::uint32_t core = core_of(stream);
        Domain& domain = domains[llc_of_core[core]];
        if (domain.seen == nullptr) {
            domain.seen = std::make_unique<SeenLines>(program_.n_lines);
            domain.room = lines_of(machine_.llc);
        }
        if (std::ranges::find(domain.cores, core) != domain.cores.end()) continue;
        domain.cores.push_back(core);
        const PrivateSide& side = machine_.classes[machine_.class_of_core[core]].side;
        domain.room += lines_of(side.l1) + lines_of(side.l2);
    }
    for (Domain& domain : domains) {
        const auto lines = static_cast<double>(domain.room);
        domain.room = static_cast<std::uint64_t>(lines * beyond_capacity);
        domain.clean = static_cast<std::uint64_t>(lines * (beyond_capacity - dirty_within));
    }
    const std::vector<WarmLine>& lines = program_.beginning->lines;
    std::vector<std::uint32_t> places;
    for (std::uint32_t i = 0; i < lines.size(); ++i) {
        Domain& domain = domains[llc_of_core[core_of(lines[i].stream())]];
        if (domain.room == 0) continue;
        const bool newest = domain.seen->add(lines[i].line());
        if (!newest && domain.room < domain.clean) continue;
        domain.room -= newest;
        places.push_back(i);
    }
    return places;
}

void WarmStart::touch_lines() {
    const std::vector<WarmLine>& lines = program_.beginning->lines;
    const std::vector<std::uint32_t> places = worth_touching();
    const auto foresee = [&](std::size_t i, std::size_t ahead, auto bring_near) {
        if (i < ahead) return;
        const WarmLine& line = lines[places[i - ahead]];
        const Pu& p = board_.pus[board_.streams[line.stream()].pu];
        if (p.cached_core != nobody) (memory_.*bring_near)(p.cached_core, line.line());
    };
    for (std::size_t i = places.size(); i-- > 0;) {
        const WarmLine& line = lines[places[i]];
        const std::uint32_t pu = board_.streams[line.stream()].pu;
        const Pu& p = board_.pus[pu];
        cached_cores_.admit(pu);
        // A snapshot may have lines of a page that the run's list of first touches does not have.
        if (memory_.faults(line.line()))
            memory_.place_page(line.line() >> page_shift, machine_.topology.node_of_core()[p.core]);
        foresee(i, 3 * lines_ahead, &Memory::bring_line_near);
        foresee(i, 2 * lines_ahead, &Memory::bring_sets_near);
        foresee(i, lines_ahead, &Memory::bring_victims_near);
        memory_.warm(p.cached_core, line.line(), line.written());
    }
}

// Touching each line once has left no way empty, and a window is too short to empty ways itself.
void WarmStart::settle_llcs() {
    if (machine_.llc_inclusive) return;
    struct Traffic {
        double hits = 0, in = 0, above = 0;  // lines that the caches of its cores hold
        std::vector<std::uint32_t> cores;
    };
    std::vector<Traffic> traffic(machine_.topology.llcs());
    for (std::uint32_t stream = 0; stream < board_.streams.size(); ++stream) {
        const Counts& counts = board_.streams[stream].account.counts;
        const std::uint32_t core = core_of(stream);
        Traffic& of = traffic[machine_.topology.llc_of_core()[core]];
        of.hits += static_cast<double>(counts[llc_hits]);
        of.in += static_cast<double>(counts[l2_evictions]);
        if (std::ranges::find(of.cores, core) != of.cores.end()) continue;
        of.cores.push_back(core);
        const PrivateSide& side = machine_.classes[machine_.class_of_core[core]].side;
        of.above += static_cast<double>(lines_of(side.l2));
    }
    for (std::uint32_t llc = 0; llc < traffic.size(); ++llc) {
        const Traffic& of = traffic[llc];
        if (of.in < least_traffic) continue;
        // The share of empty ways is limited by the lines that went up.
        const double most = of.above / (of.above + machine_.llc.sets);
        memory_.empty_ways(llc, std::min(of.hits / of.in, most));
    }
}

}  // namespace autofinity::sim
