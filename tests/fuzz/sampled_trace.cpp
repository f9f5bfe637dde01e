// Any bytes are a sampled trace, or an error that names the file and the offset in it; whatever its
// windows hold, a window that was mended is a program whose replay ends or says why not.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "machines.hpp"
#include "sampled_bundle.hpp"
#include "sim/error.hpp"
#include "sim/program/skeleton_program.hpp"
#include "sim/program/window_program.hpp"
#include "sim/replay/simulation.hpp"
#include "trace/sampled.hpp"

using namespace autofinity;

namespace {

// Limits of a window, so that its replay takes little time.
constexpr std::uint64_t most_events = 4096, most_accesses = 1 << 16, most_lines = 1 << 16;

bool small_enough(const trace::WindowEvents& window, const std::vector<trace::PageRun>& pages) {
    std::uint64_t events = 0, accesses = 0, lines = 0;
    for (const trace::Stream& stream : window.events.streams) {
        events += stream.events.size();
        for (const trace::Event& event : stream.events) accesses += event.reads + event.writes;
    }
    for (const auto& runs : window.warm)
        for (const trace::LineRun& run : runs) lines += run.lines;
    for (const trace::PageRun& run : pages) lines += run.pages;
    return events <= most_events && accesses <= most_accesses && lines <= most_lines;
}

void replay(const trace::SampledTrace& sampled, std::size_t number, std::uint8_t variant) {
    const trace::WindowEvents window = trace::read_window(sampled, number);
    if (!small_enough(window, sampled.pages)) return;
    const auto machine = fuzz::small_machine(variant);
    const auto program = std::make_shared<const sim::Program>(sim::window_program(sampled, number));
    sim::Options options;
    options.sample_period = sim::ticks_per_clock * 100'000'000;
    options.seed = variant;
    const auto pus = static_cast<std::uint32_t>(machine->topology.pus().size());
    for (std::uint32_t i = 0; i < program->streams.size(); ++i)
        options.pu_of_stream.push_back(i * (variant >> 4) % pus);
    sim::Simulation simulation(machine, program, std::move(options));
    simulation.run();
    simulation.check();
    // Events of a window are as good a skeleton as any.
    const std::size_t streams = window.events.streams.size();
    const std::vector<double> own(2 * streams, 2.5), units(2, 0.5);
    sim::skeleton_program(window.events, {500, streams, own, units});
}

void named(const std::exception& error) {
    const std::string_view said = error.what();
    if (said.find(".af") != std::string_view::npos &&
        (said.find(" at offset ") != std::string_view::npos ||
         said.find("cannot read the trace file") != std::string_view::npos ||
         said.find("this is a whole trace") != std::string_view::npos))
        return;
    std::fprintf(stderr, "an error without file and offset: %s\n", error.what());
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static fuzz::Folder folder;
    const fuzz::Bundle bundle = fuzz::unpack({data, size});
    std::shared_ptr<trace::SampledTrace> sampled;
    try {
        sampled = trace::read_sampled(fuzz::hold_sampled(folder, bundle));
        trace::read_skeleton(*sampled);
    } catch (const trace::TraceError& error) {
        named(error);
        return 0;
    }
    for (std::size_t number = 0; number < std::min<std::size_t>(sampled->windows.size(), 4);
         ++number) {
        try {
            replay(*sampled, number, bundle.variant);
        } catch (const trace::TraceError& error) {
            named(error);
        } catch (const sim::SimulationError& error) {
            // A hostile window may be refused; caches that are not coherent are never its fault.
            if (std::string_view(error.what()).starts_with("broken invariant")) std::abort();
        }
    }
    return 0;
}
