#include "staged_program.hpp"

#include "machines.hpp"
#include "sim/private_stage.hpp"
#include "sim/stage_file.hpp"

namespace autofinity::fuzz {
namespace {

using trace::Event;
using trace::Kind;

constexpr std::uint32_t threads = 3;
constexpr std::uint64_t shared_line = 4096;

std::vector<Event> events_of(std::uint32_t thread) {
    std::vector<Event> events;
    const auto access = [&](std::uint64_t line, std::uint16_t reads, std::uint16_t writes) {
        events.push_back({line, 5, 0, 0, reads, writes, Kind::access, 0, 0});
    };
    for (std::uint32_t turn = 0; turn < 6; ++turn) {
        for (std::uint32_t i = 0; i < 12; ++i) access(8192 + 1024 * thread + 7 * i, 2, turn & 1);
        events.push_back({1, 9, 0, 0, 0, 0, Kind::lock, 0, 0});
        access(shared_line + turn % 2, 1, 1);
        events.push_back({1, 9, 0, 0, 0, 0, Kind::unlock, 0, 0});
        access(shared_line + 8 + thread, 3, 2);  // of a line that all write, thread by thread
        events.push_back({shared_line + 20, 40, 30, 0, 4, 4, Kind::access, 0, 0});
        events.push_back({2, 3, 0, threads, 0, 0, Kind::barrier, 0, 0});
    }
    events.push_back({0, 70'000, 0, 0, 0, 0, Kind::compute, 0, 0});
    return events;
}

}  // namespace

sim::ProgramPtr small_program() {
    auto trace = std::make_shared<trace::Trace>();
    for (std::uint32_t thread = 0; thread < threads; ++thread)
        trace->streams.push_back({0, events_of(thread)});
    return std::make_shared<const sim::Program>(trace);
}

std::vector<std::uint32_t> pus_of_program() { return {0, 1, 2}; }

std::vector<std::uint8_t> valid_stage(std::uint8_t variant) {
    const auto machine = machine_with_stages(variant);
    const sim::ProgramPtr program = small_program();
    const sim::ProgramPtr staged =
        derive_private_stage(machine, program, pus_of_program(), variant);
    std::vector<std::uint8_t> input{variant};
    const std::vector<std::uint8_t> packed = packed_stage(*machine, *program, *staged);
    input.insert(input.end(), packed.begin(), packed.end());
    return input;
}

}  // namespace autofinity::fuzz
