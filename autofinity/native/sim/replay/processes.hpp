// Processes: their beginnings, their regions of interest, and their ends.
#pragma once

#include <cstdint>
#include <vector>

#include "accounting.hpp"
#include "board.hpp"
#include "options.hpp"
#include "regions.hpp"
#include "repeats.hpp"
#include "samples.hpp"
#include "sim/detectors/watching.hpp"
#include "sim/program/program.hpp"
#include "sim/threads/run_queues.hpp"
#include "sim/threads/synchroniser.hpp"
#include "timetable.hpp"

namespace autofinity::sim {

class Processes {
  public:
    // Throws SimulationError for options that do not fit.
    Processes(const Program& program, Board& board, Timetable& timetable, Accounting& accounting,
              Regions& regions, Samples& samples, Watching& watching, RunQueues& run_queues,
              Synchroniser& synchroniser, const Options& options);

    void start_due(Ticks at);
    // Steps of a stream that concern its process.
    void begin_region(std::uint32_t process, Ticks at);
    void end_region(std::uint32_t process, Ticks at);
    void end_stream(std::uint32_t pu, Stream& s);
    // Between two calls of advance: earlier counts are not part of the region, which begins now;
    // for a single process.
    void begin_region_anew();

    // Processes whose regions have ended since, after a turn of the PU.
    bool any_retiring() const { return !retiring_.empty(); }
    void retire(std::uint32_t pu);

  private:
    struct State {
        Start start;
        bool started = false;
        Ticks begun = 0;         // when it started last
        std::uint32_t live = 0;  // streams that have not come to their end
    };

    void start(std::uint32_t process, Ticks at);
    void start_stream(std::uint32_t stream, Ticks at);
    void retire(std::uint32_t process, Ticks at);
    void begin_again(Ticks at);
    // Whether a stream without further events ends the window at this time.
    bool ends_window(Stream& s, Ticks at) const;
    bool stuck() const;
    // Time when the last of its streams has ended, if all have; `at` otherwise.
    Ticks end_of_streams(std::uint32_t process, Ticks at) const;

    const Program& program_;
    Board& board_;
    Timetable& timetable_;
    Accounting& accounting_;
    Regions& regions_;
    Samples& samples_;
    Watching& watching_;
    RunQueues& run_queues_;
    Synchroniser& synchroniser_;
    const bool restart_;
    std::vector<State> processes_;
    std::vector<std::uint32_t> retiring_;
    Repeats repeats_;
    std::uint32_t live_at_start_ = 0;  // of the region that is repeated
};

}  // namespace autofinity::sim
