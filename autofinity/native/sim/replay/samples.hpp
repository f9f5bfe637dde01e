// Samples: what each stream has counted, every so often.
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
    // Those so far were of something else.
    void begin_anew(Ticks at);
    // Throws SimulationError when they are too many.
    void take(Ticks at, double progress);
    // The one that was due, and when the next one is.
    void take_due(Ticks at, double progress);
    // The region ends: what is left, which a sample of the same time takes in.
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
