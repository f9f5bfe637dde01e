// Samples: periodic counts of each stream.
#pragma once

#include <vector>

#include "accounting.hpp"
#include "board.hpp"
#include "sim/counts.hpp"
#include "timetable.hpp"

namespace autofinity::sim {

struct Sample {
    Ticks start = 0, end = 0;    // since the region began
    double progress = 0;         // share of its instructions that are done at `end`
    std::vector<Counts> counts;  // of each stream, since the previous sample
};

class Samples {
  public:
    // `period`: 0 for no samples but the last.
    Samples(Accounting& accounting, Board& board, Timetable& timetable, Ticks period)
        : accounting_(accounting), board_(board), timetable_(timetable), period_(period) {}

    const std::vector<Sample>& all() const { return samples_; }
    void begin(Ticks at);
    // Drops the samples so far, which were not of the region.
    void begin_anew(Ticks at);
    // Throws SimulationError when there are too many samples.
    void take(Ticks at, double progress);
    // Takes the sample that was due, and sets the time of the next one.
    void take_due(Ticks at, double progress);
    // The region ends: takes the last sample, which joins a sample of the same time.
    void take_last(Ticks at);

  private:
    Accounting& accounting_;
    Board& board_;
    Timetable& timetable_;
    Ticks period_;
    Ticks begin_ = 0, last_ = 0;
    std::vector<Sample> samples_;
};

}  // namespace autofinity::sim
