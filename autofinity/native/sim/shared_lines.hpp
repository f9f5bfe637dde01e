// Who uses the lines of a program in its region of interest: what threads may take from each other.
#pragma once

#include <cstdint>

#include "machine.hpp"
#include "program.hpp"
#include "zeroed.hpp"

namespace autofinity::sim {

// For programs that may have a private stage: no work units, and a bit of a word for each stream.
class SharedLines {
  public:
    SharedLines(const Program& program, const Machine& machine);

    // Whether several threads use the line and one of them writes it.
    bool has(Line line) const { return users_[line] == (several | written); }
    // Whether the line is one other thread's alone, which writes it: nobody else comes for it, but
    // a prefetcher may.
    bool is_of_another(Line line, std::uint32_t stream) const {
        return (users_[line] & written) != 0 && users_[line] != (several | written) &&
               users_[line] != ((stream + 1) | written);
    }

    // Whether only writes of others matter to a thread that has the line.
    bool is_settled_by_writes(Line line, std::uint32_t stream) const {
        return owned_state_ || (writer_[line] != several && writer_[line] != stream + 1);
    }

  private:
    static constexpr std::uint8_t written = 0x80, several = 0x7F;

    void add(const StreamPlan& plan, std::uint8_t user);

    const bool owned_state_;
    Zeroed<std::uint8_t> users_;   // of each line: a stream, from 1, or several; and `written`
    Zeroed<std::uint8_t> writer_;  // of each line that is written: a stream, from 1, or several
};

}  // namespace autofinity::sim
