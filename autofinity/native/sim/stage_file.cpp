#include "stage_file.hpp"

#include <memory>

#include "error.hpp"
#include "range_coder.hpp"
#include "stage_codec.hpp"
#include "trace/huffman.h"

namespace autofinity::sim {

std::vector<std::uint8_t> packed_stage(const Machine& machine, const Program& program,
                                       const Program& staged) {
    if (staged.stage == nullptr) throw SimulationError("the program has no private stage to keep");
    if (staged.streams.size() != program.streams.size())
        throw SimulationError("the private stage is of another program");
    std::vector<std::uint8_t> bytes;
    for (const std::uint64_t number :
         {std::uint64_t{staged.streams.size()}, staged.stage->kept, staged.stage->kept_racing}) {
        std::uint8_t digits[10];
        bytes.insert(bytes.end(), digits, af_put_varint(digits, number));
    }
    RangeEncoder encoder(bytes);
    const auto codec = std::make_unique<StageCodec<RangeEncoder>>(encoder, machine, program,
                                                                  staged.stage->geometry.seed);
    for (std::uint32_t i = 0; i < staged.streams.size(); ++i)
        codec->stream(i, staged.streams[i], staged.stage->tallies);
    encoder.finish();
    return bytes;
}

ProgramPtr unpacked_stage(const Machine& machine, const Program& program,
                          const std::vector<std::uint32_t>& pu_of_stream, std::uint64_t seed,
                          std::span<const std::uint8_t> bytes) {
    must_have_stage(machine, program, pu_of_stream);
    const std::uint8_t* at = bytes.data();
    const std::uint8_t* const end = at + bytes.size();
    std::uint64_t head[3];
    for (std::uint64_t& number : head)
        if ((at = af_get_varint(at, end, &number)) == nullptr) damaged(0, "it ends too early");
    if (head[0] != program.streams.size()) damaged(0, "it is of another program");
    auto stage = std::make_shared<PrivateStage>();
    stage->geometry = PrivateGeometry(machine, pu_of_stream, seed);
    stage->kept = head[1];
    stage->kept_racing = head[2];
    RangeDecoder decoder({at, end});
    const auto codec = std::make_unique<StageCodec<RangeDecoder>>(decoder, machine, program, seed);
    std::vector<StreamPlan> plans;
    for (std::uint32_t i = 0; i < program.streams.size(); ++i) {
        StreamPlan& plan = plans.emplace_back();
        plan.instructions = program.streams[i].instructions;
        codec->stream(i, plan, stage->tallies);
        plan.steps.resize(plan.steps.size() + steps_foreseen, {0, 0, 0, 0, 0, kind_sentinel, 0});
        plan.steps.shrink_to_fit();
    }
    if (!decoder.at_end())
        damaged(static_cast<std::uint32_t>(plans.size()) - 1, "something follows its end");
    stage->later_uses = later_uses_on(machine, program, plans, codec->shared());
    return std::make_shared<const Program>(program, std::move(plans), std::move(stage));
}

}  // namespace autofinity::sim
