// The accesses of a program whose order between threads may matter.
#pragma once

#include "program_builder.hpp"

namespace autofinity::sim {

// Visits each access that others could see, with its author: a stream or a unit, from 1.
template <typename Visit>
void ProgramBuilder::each_ordered_access(Visit&& visit) {
    const auto streams = static_cast<std::uint32_t>(program_.streams.size());
    for (std::uint32_t p = 0; p < process_; ++p) {
        const Process& process = program_.processes[p];
        for (std::uint32_t local = 0; local < process.streams; ++local) {
            const std::uint32_t s = process.first_stream + local;
            auto& steps = program_.streams[s].steps;
            std::vector<std::uint32_t> outer;
            std::uint32_t who = s + 1;
            for (std::size_t i = local == regions_[p].begin_stream ? regions_[p].begin : 0;
                 i < steps.size(); ++i) {
                if (steps[i].is(trace::Kind::unit_begin)) {
                    outer.push_back(who);
                    who = streams + 1 + steps[i].unit();
                } else if (steps[i].is(trace::Kind::unit_end)) {
                    if (program_.units[steps[i].unit()].in_place || outer.empty()) continue;
                    who = outer.back();
                    outer.pop_back();
                } else if (steps[i].is_access()) {
                    visit(steps[i], who);
                }
            }
        }
    }
}

}  // namespace autofinity::sim
