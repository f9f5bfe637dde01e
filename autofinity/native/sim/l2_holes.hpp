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

#include "line_notes.hpp"

namespace autofinity::sim {

// Of one core's L2, in a replay. Sets are numbers; `out(line)` is called for each line that leaves.
class L2Holes {
  public:
    L2Holes(std::uint32_t sets, LineNotes& notes) : holes_(sets), sets_(sets), notes_(notes) {}

    // Whether the stage has it in the L2, which has not.
    bool is_missing(Line line) const { return notes_.has(line, Note::missing); }
    // Whether it would have left.
    bool stays(Line line) const { return notes_.has(line, Note::stays); }

    void open(std::uint32_t set, Line line) {
        if (is_missing(line)) return;
        notes_.add(line, Note::missing);
        ++holes_[set];
    }
    // A line that is missing is back, or the stage has it in the L2 no more.
    template <typename Out>
    void close(std::uint32_t set, Line line, Out&& out) {
        notes_.remove(line, Note::missing);
        close_some(set, 1, out);
    }
    // It has come into the L1 instead: the stage, too, has its place free until a line comes.
    void move_up(std::uint32_t set, Line line) {
        notes_.remove(line, Note::missing);
        ++sets_[set].moved_up;
        ++moved_up_;
    }
    bool any_moved_up() const { return moved_up_ != 0; }
    // Some line has come into the set.
    template <typename Out>
    void fill(std::uint32_t set, Out&& out) {
        if (holes_[set] == 0 || sets_[set].moved_up == 0) return;
        --sets_[set].moved_up;
        --moved_up_;
        close_some(set, 1, out);
    }
    // The line would leave, for the stage has no place free.
    template <typename Out>
    void leave(std::uint32_t set, Line line, Out&& out) {
        if (holes_[set] != 0) [[unlikely]] {
            moved_up_ -= sets_[set].moved_up;
            close_some(set, std::exchange(sets_[set].moved_up, 0), out);
        }
        if (holes_[set] == 0) {
            out(line);
            return;
        }
        sets_[set].stay.push_back(line);
        notes_.add(line, Note::stays);
        close_some(set, 0, out);
    }
    // A line that stays is taken, or the stage has it in the core again.
    void forget(std::uint32_t set, Line line) {
        std::vector<Line>& stay = sets_[set].stay;
        stay.erase(std::find(stay.begin(), stay.end(), line));
        notes_.remove(line, Note::stays);
    }

  private:
    struct Set {
        std::uint32_t moved_up = 0;  // of its holes: the stage has no line there either
        std::vector<Line> stay;      // the first one leaves first
    };

    template <typename Out>
    void close_some(std::uint32_t set, std::uint32_t holes, Out&& out) {
        holes_[set] -= holes;
        std::vector<Line>& stay = sets_[set].stay;
        while (stay.size() > holes_[set]) {
            const Line first = stay.front();
            stay.erase(stay.begin());
            notes_.remove(first, Note::stays);
            out(first);
        }
    }

    std::vector<std::uint32_t> holes_;  // of each set: most have none
    std::vector<Set> sets_;
    std::uint32_t moved_up_ = 0;  // of all sets
    LineNotes& notes_;
};

}  // namespace autofinity::sim
