// Whatever bytes a private stage has, it is refused or its replay ends, with caches that are
// coherent.
#include <span>
#include <string_view>

#include "machines.hpp"
#include "sim/error.hpp"
#include "sim/simulation.hpp"
#include "sim/stage_file.hpp"
#include "staged_program.hpp"

using namespace autofinity;

namespace {

// Few bytes can say many steps.
constexpr std::size_t most_steps = 1 << 14;
constexpr std::uint64_t most_accesses = 1 << 18;

bool small_enough(const sim::Program& program) {
    std::size_t steps = 0;
    std::uint64_t accesses = 0;
    for (const sim::StreamPlan& plan : program.streams) {
        steps += plan.steps.size();
        for (const sim::Step& step : plan.steps) accesses += step.reads + step.writes;
    }
    return steps <= most_steps && accesses <= most_accesses;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const sim::ProgramPtr program = fuzz::small_program();
    if (size == 0) return 0;
    const std::span<const std::uint8_t> bytes(data, size);
    const auto machine = fuzz::machine_with_stages(data[0]);
    sim::Options options;
    options.pu_of_stream = fuzz::pus_of_program();
    options.seed = data[0];
    try {
        const sim::ProgramPtr staged = unpacked_stage(*machine, *program, options.pu_of_stream,
                                                      options.seed, bytes.subspan(1));
        if (!small_enough(*staged)) return 0;
        sim::Simulation simulation(machine, staged, std::move(options));
        simulation.run();
        simulation.check();
    } catch (const sim::SimulationError& error) {
        if (std::string_view(error.what()).starts_with("broken invariant")) std::abort();
    }
    return 0;
}
