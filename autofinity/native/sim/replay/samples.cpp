#include "samples.hpp"

#include <string>
#include <utility>

#include "sim/error.hpp"

namespace autofinity::sim {
namespace {

constexpr std::size_t most_sample_bytes = std::size_t{2} << 30;

}  // namespace

void Samples::begin(Ticks at) {
    begin_ = last_ = at;
    timetable_.sample = period_ != 0 ? at + period_ : forever;
}

void Samples::begin_anew(Ticks at) {
    samples_.clear();
    begin(at);
}

void Samples::take_due(Ticks at, double progress) {
    take(at, progress);
    timetable_.sample += period_;
}

void Samples::take(Ticks at, double progress) {
    if (samples_.size() * board_.streams.size() * sizeof(Counts) > most_sample_bytes)
        throw SimulationError("the samples take more than 2 GiB; use a longer sample period than " +
                              std::to_string(clocks(period_)) + " clocks");
    Sample sample{last_ - begin_, at - begin_, progress, {}};
    sample.counts.reserve(board_.streams.size());
    for (Stream& s : board_.streams) sample.counts.push_back(accounting_.take_sample(s, at));
    last_ = at;
    samples_.push_back(std::move(sample));
}

void Samples::take_last(Ticks at) {
    if (at > last_ || samples_.empty()) return take(at, 1.0);
    for (std::size_t stream = 0; stream < board_.streams.size(); ++stream) {
        const Counts since = accounting_.take_sample(board_.streams[stream], at);
        Counts& counts = samples_.back().counts[stream];
        for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += since[i];
    }
}

}  // namespace autofinity::sim
