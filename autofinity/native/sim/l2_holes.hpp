// What becomes of the places that an L2 has free because other cores took their lines.
//
// A private stage tells when lines leave an L2 that nobody takes anything from. Where lines were
// taken, what comes into the set finds a free place, and the line that would have left stays, until
// fewer places are free than lines stay: then the one that stayed first leaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "line_set.hpp"

namespace autofinity::sim {

// Of one core's L2, in a replay. Sets are numbers; `out(line)` is called for each line that leaves.
class L2Holes {
  public:
    L2Holes(std::uint32_t sets, std::size_t lines) : sets_(sets), missing_(lines), stays_(lines) {}

    // Whether the stage has it in the L2, which has not.
    bool is_missing(Line line) const { return missing_.has(line); }
    // Whether it would have left.
    bool stays(Line line) const { return stays_.has(line); }

    void open(std::uint32_t set, Line line) {
        if (missing_.has(line)) return;
        missing_.add(line);
        ++sets_[set].holes;
    }
    // A line that is missing is back, or the stage has it in the L2 no more.
    template <typename Out>
    void close(std::uint32_t set, Line line, Out&& out) {
        missing_.remove(line);
        close(sets_[set], 1, out);
    }
    // It has come into the L1 instead: the stage, too, has its place free until a line comes.
    void move_up(std::uint32_t set, Line line) {
        missing_.remove(line);
        ++sets_[set].moved_up;
    }
    // Some line has come into the set.
    template <typename Out>
    void fill(std::uint32_t set, Out&& out) {
        Set& of = sets_[set];
        if (of.moved_up == 0) return;
        --of.moved_up;
        close(of, 1, out);
    }
    // The line would leave, for the stage has no place free.
    template <typename Out>
    void leave(std::uint32_t set, Line line, Out&& out) {
        Set& of = sets_[set];
        close(of, std::exchange(of.moved_up, 0), out);
        if (of.holes == 0) {
            out(line);
            return;
        }
        of.stay.push_back(line);
        stays_.add(line);
        close(of, 0, out);
    }
    // A line that stays is taken, or the stage has it in the core again.
    void forget(std::uint32_t set, Line line) {
        std::vector<Line>& stay = sets_[set].stay;
        stay.erase(std::find(stay.begin(), stay.end(), line));
        stays_.remove(line);
    }

  private:
    struct Set {
        std::uint32_t holes = 0;     // of these, in
        std::uint32_t moved_up = 0;  // the stage has no line either
        std::vector<Line> stay;      // the first one leaves first
    };

    template <typename Out>
    void close(Set& of, std::uint32_t holes, Out&& out) {
        of.holes -= holes;
        while (of.stay.size() > of.holes) {
            const Line first = of.stay.front();
            of.stay.erase(of.stay.begin());
            stays_.remove(first);
            out(first);
        }
    }

    std::vector<Set> sets_;
    LineSet missing_, stays_;
};

}  // namespace autofinity::sim
