#include "simulation.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/error.hpp"
#include "turns.hpp"

namespace autofinity::sim {

Simulation::Simulation(std::shared_ptr<const MachineModel> machine, ProgramPtr program,
                       Options options)
    : parts_(std::move(machine), std::move(program), std::move(options)) {
    parts_.processes.start_due(0);
}

bool Simulation::advance(Ticks duration) {
    if (ended()) return true;
    parts_.timetable.wanted = std::min(duration, forever);
    if (parts_.regions.any_begun())
        parts_.timetable.target = std::min(forever, parts_.timetable.now + parts_.timetable.wanted);
    parts_.timetable.set_stop();
    return take_turns(parts_);
}

void Simulation::bind(std::uint32_t number, std::uint32_t pu, bool stay) {
    if (number >= parts_.board.streams.size() || pu >= parts_.board.pus.size())
        throw SimulationError("cannot bind stream " + std::to_string(number) + " to PU " +
                              std::to_string(pu) + ": there are " +
                              std::to_string(parts_.board.streams.size()) + " streams and " +
                              std::to_string(parts_.board.pus.size()) + " PUs");
    Stream& s = parts_.board.streams[number];
    if (parts_.os && stay) {
        parts_.os->keep_on(number, pu);
        s.placed = true;
    }
    if (s.pu == pu) return;
    if (s.status == Status::running || s.status == Status::ready)
        parts_.watching.spend(Overhead::thread_migration, parts_.machine->migration);
    parts_.run_queues.move(number, pu, parts_.timetable.now);
    parts_.board.order_anew();
}

void Simulation::check() const {
    parts_.memory.check();
    if (parts_.machine->skew == 0 && parts_.accesses.out_of_order() != 0)
        throw SimulationError(std::to_string(parts_.accesses.out_of_order()) +
                              " accesses were issued after others that came later");
}

std::int64_t Simulation::node_of_page(std::uint32_t process, std::uint64_t virtual_page) const {
    const std::uint32_t page = parts_.program->page_of(process, virtual_page);
    if (page == 0 || !parts_.memory.page_mapped(page)) return -1;
    return parts_.memory.node_of_page(page);
}

}  // namespace autofinity::sim
