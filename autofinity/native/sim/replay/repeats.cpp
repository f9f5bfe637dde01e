#include "repeats.hpp"

#include "sim/program/program.hpp"

namespace autofinity::sim {

void Repeats::remember() {
    for (const Stream& s : board_.streams) starts_.push_back({s, s.status});
    for (Repeatable* part : parts_) part->remember();
}

void Repeats::restore() {
    for (std::size_t i = 0; i < starts_.size(); ++i)
        board_.streams[i].begin_again(starts_[i].progress);
    for (Repeatable* part : parts_) part->restore();
}

void Repeats::forget(const Process& process) {
    for (std::uint32_t i = process.first_stream; i < process.first_stream + process.streams; ++i)
        board_.streams[i].forget();
    for (Repeatable* part : parts_) part->forget(process);
}

}  // namespace autofinity::sim
