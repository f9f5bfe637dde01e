// The regions of interest of a program's processes, and their counts.
#pragma once

#include <cstdint>
#include <vector>

#include "accounting.hpp"
#include "board.hpp"
#include "sim/program/program.hpp"
#include "timetable.hpp"

namespace autofinity::sim {

// Begin and end of a region (or now), since the first region began.
struct RegionTimes {
    Ticks begin, end;
    bool ended;
};

class Regions {
  public:
    // `repeats`: how often each of them runs.
    Regions(const Program& program, Accounting& accounting, Board& board,
            const Timetable& timetable, std::uint32_t repeats);

    bool begun(std::uint32_t process) const { return regions_[process].begun; }
    bool ended(std::uint32_t process) const { return regions_[process].ended; }
    Ticks end_of(std::uint32_t process) const { return regions_[process].end; }
    bool any_begun() const { return any_begun_; }
    bool all_ended() const { return not_ended_ == 0; }
    // Time since the first region began.
    Ticks elapsed() const { return any_begun_ ? timetable_.now - first_begin_ : 0; }
    double progress() const;
    RegionTimes times_of(std::uint32_t process) const;
    // Counts of each stream in the region of its process.
    std::vector<Counts> totals() const;

    // Begin or end of the region of a process at a time. Returns whether it is the first to begin,
    // or the last to end.
    bool begin(std::uint32_t process, Ticks at);
    bool end(std::uint32_t process, Ticks at);
    // The region of the only process, which has begun, begins now instead.
    void begin_anew(Ticks at);

  private:
    struct Region {
        bool begun = false, ended = false;
        Ticks begin = 0, end = 0;
        std::uint64_t done_before = 0;  // instructions before it
    };

    std::uint64_t instructions_of(const Process& process) const;

    const Program& program_;
    Accounting& accounting_;
    Board& board_;
    const Timetable& timetable_;
    const std::uint32_t repeats_;
    std::vector<Region> regions_;
    std::uint32_t not_ended_;
    bool any_begun_ = false;
    Ticks first_begin_ = 0;
};

}  // namespace autofinity::sim
