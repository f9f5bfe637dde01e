// Whatever events a trace holds, a replay ends or says why not, and leaves the caches coherent.
#include <string_view>

#include "bundle.hpp"
#include "machines.hpp"
#include "sim/error.hpp"
#include "sim/replay/simulation.hpp"
#include "trace/trace.hpp"

using namespace autofinity;

namespace {

// Expanding a run costs a step for each of its accesses, so both numbers bound the time of a
// replay.
constexpr std::uint64_t most_events = 4096, most_accesses = 1 << 18;

bool small_enough(const trace::Trace& read) {
    std::uint64_t events = 0, accesses = 0;
    for (const trace::Stream& stream : read.streams) {
        events += stream.events.size();
        for (const trace::Event& event : stream.events) accesses += event.reads + event.writes;
    }
    return events <= most_events && accesses <= most_accesses;
}

void replay(const trace::TracePtr& read, const std::shared_ptr<const sim::MachineModel>& machine,
            std::uint8_t variant) {
    const auto program = std::make_shared<const sim::Program>(read);
    const auto pus = static_cast<std::uint32_t>(machine->topology.pus().size());
    sim::Options options;
    options.sample_period = sim::ticks_per_clock * 100'000'000;
    options.seed = variant;
    for (std::uint32_t i = 0; i < program->streams.size(); ++i)
        options.pu_of_stream.push_back(i * (variant >> 4) % pus);
    sim::Simulation simulation(machine, program, std::move(options));
    const bool ended = simulation.advance(sim::ticks_per_clock * 1000);
    simulation.check();
    if (!ended) {
        simulation.bind(0, pus - 1, true);
        // The first eight dense pages are never used.
        if (program->virtual_page.size() > 8) simulation.move_page(0, program->virtual_page[8], 1);
        simulation.run();
        simulation.check();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static fuzz::Folder folder;
    const fuzz::Bundle bundle = fuzz::unpack({data, size});
    const auto machine = fuzz::small_machine(bundle.variant);
    try {
        const trace::TracePtr read = trace::read_trace(folder.hold(bundle));
        if (!small_enough(*read)) return 0;
        replay(read, machine, bundle.variant);
    } catch (const trace::TraceError&) {
    } catch (const sim::SimulationError& error) {
        // A hostile trace may be refused; caches that are not coherent are never its fault.
        if (std::string_view(error.what()).starts_with("broken invariant")) std::abort();
    }
    return 0;
}
