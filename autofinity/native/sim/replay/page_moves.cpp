#include "page_moves.hpp"

#include <algorithm>
#include <string>

#include "sim/error.hpp"

namespace autofinity::sim {

Ticks PageMoves::move(std::uint32_t process, std::uint64_t virtual_page, std::uint32_t node) {
    if (node >= machine_.topology.nodes())
        throw SimulationError("no node " + std::to_string(node) + "; the machine has " +
                              std::to_string(machine_.topology.nodes()));
    if (machine_.home_of_node[node] != node)
        throw SimulationError("node " + std::to_string(node) + " has no memory to move pages to");
    const std::uint32_t page = program_.page_of(process, virtual_page);
    if (page == 0) return 0;
    const Moved moved = memory_.move_page(page, node, timetable_.now);
    bursts_.split_lost();
    watching_.interrupt(moved.shot_down);
    if (moved.cost == 0) return 0;
    watching_.moved(page, moved.shot_down);
    // Pages that move at one instant are copied one after another, and the time of each copy is its
    // own: its wait in the queue is the time of the copies before it, which is already charged.
    if (timetable_.now != moved_at_) first_line_ = moved.first_line;
    moved_at_ = timetable_.now;
    return moved.cost - (moved.first_line - std::min(moved.first_line, first_line_));
}

}  // namespace autofinity::sim
