#include "board.hpp"

#include <cmath>

#include "sim/error.hpp"

namespace autofinity::sim {

Board::Board(const MachineModel& machine, const Program& program,
             const std::vector<std::uint32_t>& pu_of_stream, std::uint32_t most_cached_cores)
    : streams(program.streams.size()),
      pus(machine.topology.pus().size()),
      pus_of_cached_core(most_cached_cores),
      due(pus.size()) {
    if (pus.size() > DuePus::most_pus)
        throw SimulationError("got a machine of " + std::to_string(pus.size()) +
                              " PUs; at most 1024 can be simulated");
    if (pu_of_stream.size() != streams.size())
        throw SimulationError("got a PU for " + std::to_string(pu_of_stream.size()) +
                              " streams; the trace has " + std::to_string(streams.size()));
    const auto& core_of_pu = machine.topology.core_of_pu();
    for (std::size_t i = 0; i < pus.size(); ++i) {
        Pu& p = pus[i];
        p.core = core_of_pu[i];
        p.kind = &machine.classes[machine.class_of_core[p.core]];
        p.instruction = p.kind->instruction;
        p.window = p.kind->window;
        p.parts_core = p.kind->smt_shares_misses || p.kind->smt_window != p.kind->window;
        p.most_misses = p.kind->misses_in_flight;
        p.shared_instruction = static_cast<Ticks>(
            std::llround(static_cast<double>(p.kind->instruction) * p.kind->smt_slowdown));
        for (std::uint32_t other = 0; other < pus.size(); ++other)
            if (other != i && core_of_pu[other] == p.core) p.siblings.push_back(other);
    }
    for (std::uint32_t process = 0; process < program.processes.size(); ++process) {
        const Process& of = program.processes[process];
        for (std::uint32_t i = of.first_stream; i < of.first_stream + of.streams; ++i) {
            streams[i].process = process;
            streams[i].pu = pu_of_stream[i];
            if (pu_of_stream[i] >= pus.size())
                throw SimulationError("stream " + std::to_string(i) + " is placed on PU " +
                                      std::to_string(pu_of_stream[i]) + "; the machine has " +
                                      std::to_string(pus.size()));
        }
    }
}

void Board::order_anew() {
    due.clear();
    for (std::uint32_t i = 0; i < pus.size(); ++i)
        if (pus[i].stream != nobody) due.push(i, pus[i].key);
}

std::string Board::where(const Stream& s, std::uint32_t source, std::ptrdiff_t step) const {
    const std::uint32_t number = number_of(s);
    std::string text = "stream " + std::to_string(number);
    if (source != number) text += " (in a work unit of stream " + std::to_string(source) + ")";
    return text + ", event " + std::to_string(step);
}

}  // namespace autofinity::sim
