// Which steps of a program a private stage keeps, and as what: how an encoder lines the two up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "error.hpp"
#include "private_stage.hpp"
#include "program.hpp"

namespace autofinity::sim {

// How much of a run is left in a kept step.
enum Span : std::uint8_t { span_none, span_of_program, span_told };

inline bool is_of_program(const Step& step) {
    return !is_access(step) && !is_noted(step.kind) &&
           step.kind != static_cast<std::uint8_t>(trace::Kind::compute);
}

// Whether a step of the stage is what is left of the program's access, and how its span is told.
inline bool is_left_of(const Step& own, const Step& step, Span& span) {
    constexpr unsigned of_stage = step_pushes | step_trains | step_begins;
    const auto flags = static_cast<std::uint8_t>(step.flags & ~of_stage);
    const auto single = static_cast<std::uint8_t>(own.flags & ~step_run);
    span = flags == single && step.span == 0             ? span_none
           : flags == own.flags && step.span == own.span ? span_of_program
                                                         : span_told;
    return own.line == step.line && own.reads == step.reads && own.writes == step.writes &&
           (span != span_told || flags == single);
}

// The program's step that each step of a stage is left of, if any; a tally and L1 victims at the
// place of the step after them go with that.
class Matches {
  public:
    static constexpr std::size_t none = ~std::size_t{0};

    Matches(const std::vector<Step>& own, const std::vector<Step>& staged)
        : own_(own), of_(staged.size(), none) {
        std::uint64_t position = 0;
        for (std::size_t i = 0; i < staged.size(); ++i) {
            const Step& step = staged[i];
            position += step.gap;
            if (is_of_program(step))
                of_[i] = next_other(step);
            else if (is_access(step))
                of_[i] = access_at(position, step);
            else
                continue;
            if (of_[i] != none && position == matched_position_) match_before(staged, i);
            if (step.kind == kind_sentinel) return;
        }
    }
    std::size_t operator[](std::size_t i) const { return of_[i]; }

  private:
    // A tally before the step, and what the L1 has given up before that, at the same place.
    void match_before(const std::vector<Step>& staged, std::size_t i) {
        const auto goes_with = [&](std::uint8_t kind) {
            return i != 0 && staged[i].gap == 0 && staged[i - 1].kind == kind;
        };
        const std::size_t of = of_[i];
        if (goes_with(kind_tally)) of_[--i] = of;
        while (goes_with(kind_victim)) of_[--i] = of;
    }
    std::size_t taken(std::size_t i) {
        for (; at_ <= i; ++at_) position_ += own_[at_].gap;
        matched_position_ = position_;
        return i;
    }
    std::size_t next_other(const Step& step) {
        std::size_t i = at_;
        while (!is_of_program(own_[i])) ++i;
        if (own_[i].kind != step.kind || own_[i].line != step.line)
            throw SimulationError("the private stage is of another program");
        return taken(i);
    }
    std::size_t access_at(std::uint64_t position, const Step& step) {
        for (; !is_of_program(own_[at_]) && position_ + own_[at_].gap < position; ++at_)
            position_ += own_[at_].gap;
        std::uint64_t here = position_;
        for (std::size_t i = at_; !is_of_program(own_[i]); ++i) {
            here += own_[i].gap;
            if (here != position) break;
            Span span;
            if (is_access(own_[i]) && is_left_of(own_[i], step, span)) return taken(i);
        }
        return none;
    }

    const std::vector<Step>& own_;
    std::vector<std::size_t> of_;
    std::size_t at_ = 0;
    std::uint64_t position_ = 0;  // of the step before at_
    std::uint64_t matched_position_ = 0;
};

}  // namespace autofinity::sim
