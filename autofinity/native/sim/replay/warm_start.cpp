#include "warm_start.hpp"

#include <algorithm>

#include "lasting_touches.hpp"

namespace autofinity::sim {
namespace {

constexpr std::size_t lines_ahead = 8;
// Number of lines leaving the cores for an LLC from which on they show how full the LLC is.
constexpr double least_traffic = 256;

std::uint64_t lines_of(CacheShape shape) { return std::uint64_t{shape.sets} * shape.ways; }

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
    // A snapshot may have lines of a page that the run's list of first touches does not have.
    const std::vector<WarmLine>& lines = program_.beginning->lines;
    for (auto line = lines.rbegin(); line != lines.rend(); ++line)
        if (memory_.faults(line->line()))
            memory_.place_page(line->line() >> page_shift, node_of_core[core_of(line->stream())]);
}

void WarmStart::touch_lines() {
    const std::vector<WarmLine>& lines = program_.beginning->lines;
    const std::vector<LastingTouch> lasting = lasting_touches(machine_, program_, memory_, board_);
    const auto foresee = [&](std::size_t i, std::size_t ahead, auto bring_near) {
        if (i < ahead) return;
        const WarmLine& line = lines[lasting[i - ahead].number()];
        const Pu& p = board_.pus[board_.streams[line.stream()].pu];
        if (p.cached_core != nobody) (memory_.*bring_near)(p.cached_core, line.line());
    };
    for (std::size_t i = lasting.size(); i-- > 0;) {
        const LastingTouch touch = lasting[i];
        const WarmLine& line = lines[touch.number()];
        const std::uint32_t pu = board_.streams[line.stream()].pu;
        cached_cores_.admit(pu);
        if (i >= 3 * lines_ahead)
            memory_.bring_page_near(lines[lasting[i - 3 * lines_ahead].number()].line());
        foresee(i, 2 * lines_ahead, &Memory::bring_line_near);
        foresee(i, lines_ahead, &Memory::bring_sets_near);
        const std::uint32_t core = board_.pus[pu].cached_core;
        if (touch.translates()) memory_.warm_tlbs(core, line.line());
        if (touch.reach() == Reach::core) memory_.warm(core, line.line(), line.written());
        if (touch.reach() == Reach::llc) memory_.warm_llc(core, line.line(), line.written());
    }
}

// Lines have been put into each set up to its ways, and a window is too short to empty ways itself.
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
        // LLCs of a group are taken to have the same traffic, whichever node has most lines.
        Traffic& of = traffic[memory_.llcs_for(machine_.topology.llc_of_core()[core])[0]];
        of.hits += static_cast<double>(counts[llc_hits]);
        of.in += static_cast<double>(counts[l2_evictions]);
        if (std::ranges::find(of.cores, core) != of.cores.end()) continue;
        of.cores.push_back(core);
        const PrivateSide& side = machine_.classes[machine_.class_of_core[core]].side;
        of.above += static_cast<double>(lines_of(side.l2));
    }
    for (std::uint32_t llc = 0; llc < traffic.size(); ++llc) {
        const auto& group = memory_.llcs_for(llc);
        const Traffic& of = traffic[group[0]];
        if (of.in < least_traffic) continue;
        // The share of empty ways is limited by the lines that went up.
        const double sets = static_cast<double>(group.size()) * machine_.llc.sets;
        const double most = of.above / (of.above + sets);
        memory_.empty_ways(llc, std::min(of.hits / of.in, most));
    }
}

}  // namespace autofinity::sim
