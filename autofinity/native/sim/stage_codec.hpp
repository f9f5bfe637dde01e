// How a private stage is told beside its program (stage_file.hpp has the format): one walk over the
// program's steps, for an encoder, which looks what the stage has next, and for a decoder, which
// makes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "error.hpp"
#include "range_coder.hpp"
#include "stage_matches.hpp"
#include "stage_model.hpp"
#include "stage_tallies.hpp"

namespace autofinity::sim {

// How an access finds its line and page, in 20 ways, or that it is as in the trace.
inline constexpr std::uint32_t what_trace_access = 20, what_end = 21;
inline constexpr unsigned what_bits = 5;
inline constexpr std::uint8_t access_kind = static_cast<std::uint8_t>(trace::Kind::access);
inline constexpr std::uint8_t compute_kind = static_cast<std::uint8_t>(trace::Kind::compute);

// What follows a kept step, other than the next one.
enum Extra : std::uint8_t {
    extra_none,
    extra_leave,
    extra_leave_of,
    extra_prefetch,
    extra_tally,
    extra_gap,
    extra_access,
    extra_victim,
    extra_end
};
inline constexpr unsigned extra_bits = 4;

// Of a stream, ticks: eight hours.
inline constexpr std::uint64_t most_stall = std::uint64_t{1} << 48;
// What a step of the program can lead to on average, its accesses apart: a tally, a line and one of
// the page table that come, one fetched ahead, and what these push out. Random accesses lead to 2.2
// (measured); bytes that tell more would fill the memory.
inline constexpr std::size_t most_steps_a_step = 12;

inline std::uint32_t what_of(std::uint8_t kind) {
    return kind == access_kind ? what_trace_access : std::uint32_t{kind} - kind_derived;
}

inline std::uint8_t kind_of(std::uint32_t what) {
    return what == what_trace_access ? access_kind : static_cast<std::uint8_t>(kind_derived + what);
}

[[noreturn]] inline void damaged(std::uint32_t stream, const char* what) {
    throw SimulationError("damaged private stage, stream " + std::to_string(stream) + ": " + what +
                          "; derive it again");
}

// Tells the steps of a stage, or, with a decoder, makes them.
template <class Coder>
class StageCodec {
  public:
    StageCodec(Coder& coder, const Machine& machine, const Program& program, std::uint64_t seed)
        : coder_(coder),
          machine_(machine),
          program_(program),
          prefetches_(machine.classes.at(0).side.prefetch.streams != 0),
          held_(machine, program, seed),
          shared_(program, machine) {}

    const SharedLines& shared() const { return shared_; }

    // What is told is only read.
    template <class T>
    using Made = std::conditional_t<Coder::decodes, T, const T>;

    void stream(std::uint32_t number, Made<StreamPlan>& plan, Made<std::vector<Tally>>& tallies) {
        const StreamPlan& original = program_.streams[number];
        stream_ = number;
        plan_ = &plan;
        tallies_ = &tallies;
        held_.clear();
        past_ = std::make_unique<Past>(program_.n_lines, shared_);
        victims_ = std::make_unique<ExpectedVictims>(machine_, shared_, number);
        at_ = 0;
        asked_ = beside_ = line_apart_ = given_up_line_ = 0;
        most_steps_ = most_steps_a_step * original.steps.size() + program_.accesses;
        instructions_ = stall_ = 0;
        tally_model_.begin_stream();
        std::unique_ptr<Matches> matches;
        if constexpr (!Coder::decodes)
            matches = std::make_unique<Matches>(original.steps, plan.steps);
        const auto due = [&](std::size_t i) {
            if constexpr (Coder::decodes)
                return false;
            else
                return (*matches)[at_] == i;
        };
        std::uint64_t position = 0;
        extras(what_end, matches.get());
        for (std::size_t i = 0;; ++i) {
            const Step& own = original.steps[i];
            position += own.gap;
            if (own.kind == compute_kind) continue;
            std::uint32_t since = 0;
            if (is_access(own)) {
                since = past_->since(own.line);
                const bool kept = coder_.bit(kept_[past_->context(own)], due(i));
                past_->touch(own, kept);
                victims_->touch(own.line);
                if (!kept) {
                    tally_model_.leave_out(own);
                    continue;
                }
            }
            victims_before(position);
            tally_before(position);
            Step step = present();
            if (is_access(own)) {
                access_left(own, step, since);
                if constexpr (Coder::decodes) step.gap = gap_to(position);
            } else {
                other_left(own, step, position);
            }
            next(step);
            if (step.kind == kind_sentinel) break;
            extras(is_access(own) ? what_of(step.kind) : what_end, matches.get());
        }
        if constexpr (Coder::decodes) {
            if (coder_.overrun()) fail("it ends too early");
            if (instructions_ != original.instructions)
                fail("it has another number of instructions");
        }
    }

  private:
    [[noreturn]] void fail(const char* what) const { damaged(stream_, what); }

    Step present() const {
        if constexpr (Coder::decodes)
            return {};
        else
            return plan_->steps[at_];
    }
    void next(const Step& step) {
        instructions_ += step.gap;
        ++at_;
        if constexpr (Coder::decodes) {
            plan_->steps.push_back(step);
            if (coder_.overrun()) fail("it ends too early");
            if (at_ > most_steps_) fail("it has more steps than the program can lead to");
        }
    }
    std::uint32_t gap_to(std::uint64_t position) const {
        if (position < instructions_ || position - instructions_ > UINT32_MAX)
            fail("its steps are not in order");
        return static_cast<std::uint32_t>(position - instructions_);
    }
    std::uint16_t short_number(Number& number, std::uint16_t value) {
        const std::uint32_t told = number.code(coder_, value);
        if (told > UINT16_MAX) fail("a number is too large");
        return static_cast<std::uint16_t>(told);
    }
    // A line that is told by its distance from another.
    Line line_from(Number& number, Line from, Line line, Line end) {
        const Line told = from + unfolded(number.code(coder_, folded(line - from)));
        if (told < (1u << group_shift) || told >= end)
            fail("a line that the program does not have");
        return told;
    }

    // `since`: how long ago the stream touched the line.
    void access_left(const Step& own, Step& step, std::uint32_t since) {
        Span span = span_none;
        std::uint32_t what = 0;
        if constexpr (!Coder::decodes) {
            is_left_of(own, step, span);
            what = what_of(step.kind);
        }
        what = what_[latest_what_][since].code(coder_, what);
        if (what >= what_end) fail("a step of an unknown kind");
        span = static_cast<Span>(span_[what].code(coder_, span));
        const bool pushes =
            coder_.bit(pushes_[what][latest_pushes_], (step.flags & step_pushes) != 0);
        const bool trains =
            coder_.bit(trains_[past_->trains(own.line)], (step.flags & step_trains) != 0);
        past_->set_trains(own.line, trains);
        const bool begins = trains && coder_.bit(begins_, (step.flags & step_begins) != 0);
        const std::uint16_t told = span == span_told ? short_number(told_span_, step.span) : 0;
        if constexpr (Coder::decodes) {
            step = own;
            step.kind = kind_of(what);
            if (span != span_of_program) {
                step.span = told;
                step.flags &= static_cast<std::uint8_t>(~step_run);
            }
            if (pushes) step.flags |= step_pushes;
            if (trains) step.flags |= step_trains;
            if (begins) step.flags |= step_begins;
        }
        latest_what_ = what;
        latest_pushes_ = pushes;
        came_in(step);
    }

    // The program's own step that is no access; span: what its line's access found.
    void other_left(const Step& own, Step& step, std::uint64_t position) {
        past_->synchronise();
        const bool there = coder_.bit(there_, instructions_ + step.gap == position);
        const std::uint32_t gap = there ? 0 : gap_.code(coder_, step.gap);
        const std::uint16_t span = short_number(other_span_[own.kind & 15], step.span);
        if constexpr (Coder::decodes) {
            step = own;
            step.gap = there ? gap_to(position) : gap;
            if (span != 0) step.span = span;
        }
    }

    void came_in(const Step& step) {
        beside_ = asked_ = step.line;
        if (step.kind >= kind_derived && found_of(step.kind) >= Found::beyond)
            held_.add(step.line, *past_);
    }

    // All steps up to the next one that is left of the program's.
    void extras(std::uint32_t after, const Matches* matches) {
        std::uint32_t latest = extra_none;
        for (;;) {
            Step step{};
            std::uint32_t extra = extra_none, age = 0;
            if constexpr (!Coder::decodes) {
                if ((*matches)[at_] == Matches::none) {
                    step = present();
                    extra = extra_of(step, age);
                }
            }
            extra = extra_[after][latest_pushes_][latest].code(coder_, extra);
            if (extra == extra_none) return;
            tell(extra, step, age);
            next(step);
            latest = extra;
        }
    }

    std::uint32_t extra_of(const Step& step, std::uint32_t& age) {
        if (step.kind == kind_leave) {
            age = held_.age_of(step.line, beside_, *past_);
            return age == HeldLines::unknown ? extra_leave_of : extra_leave;
        }
        return step.kind == kind_prefetch  ? extra_prefetch
               : step.kind == kind_tally   ? extra_tally
               : step.kind == kind_victim  ? extra_victim
               : step.kind == compute_kind ? extra_gap
                                           : extra_access;
    }

    void tell(std::uint32_t extra, Step& step, std::uint32_t age) {
        switch (extra) {
            case extra_leave:
                age = age_.code(coder_, age);
                step.kind = kind_leave;
                if constexpr (Coder::decodes) step.line = held_.of_age(beside_, age, *past_);
                if (step.line == 0) fail("a line leaves that is not there");
                held_.remove(step.line);
                return;
            case extra_leave_of:
                step.kind = kind_leave;
                step.line = line_from(left_, beside_, step.line, program_.n_lines);
                held_.remove(step.line);
                return;
            case extra_prefetch:
                if (!prefetches_) fail("a step of an unknown kind");
                step.kind = kind_prefetch;
                step.line = line_from(ahead_[past_->fetched_ahead(asked_)], past_->ahead(asked_),
                                      step.line, program_.n_lines);
                past_->fetch_ahead(step.line);
                step.span = short_number(ahead_span_, step.span);
                held_.add(step.line, *past_);
                beside_ = step.line;
                return;
            case extra_tally:
                step.gap = gap_.code(coder_, step.gap);
                tally(step);
                return;
            case extra_victim:
                step.gap = gap_.code(coder_, step.gap);
                victim(step);
                return;
            case extra_gap:
                step.kind = compute_kind;
                step.gap = gap_.code(coder_, step.gap);
                return;
            case extra_access:
                return access_apart(step);
            default:
                fail("a step of an unknown kind");
        }
    }

    // An access that is a part of one of the program's.
    void access_apart(Step& step) {
        const std::uint32_t what =
            what_apart_.code(coder_, Coder::decodes ? 0 : what_of(step.kind));
        if (what >= what_end) fail("a step of an unknown kind");
        step.kind = kind_of(what);
        step.line = line_from(apart_, line_apart_, step.line, program_.first_lock_line);
        step.gap = gap_apart_.code(coder_, step.gap);
        step.reads = short_number(reads_, step.reads);
        step.writes = short_number(writes_, step.writes);
        step.span = short_number(span_apart_, step.span);
        step.flags = static_cast<std::uint8_t>(flags_.code(coder_, step.flags));
        if ((step.flags & step_run) != 0 && (step.span == 0 || step.reads + step.writes < 2))
            fail("a run of one access");
        line_apart_ = step.line;
        came_in(step);
    }

    // What the L1 gives up at the place of the step that comes next.
    void victims_before(std::uint64_t position) {
        for (bool latest = false;; latest = true) {
            Step step = present();
            const std::uint32_t expected = victims_->expected();
            if (!coder_.bit(victim_[latest][expected], step.kind == kind_victim)) return;
            if constexpr (Coder::decodes) step.gap = gap_to(position);
            victim(step);
            next(step);
        }
    }
    void victim(Step& step) {
        step.kind = kind_victim;
        std::uint32_t place = Coder::decodes ? 0 : victims_->place_of(step.line);
        place = place_of_victim_.code(coder_, place);
        const Line expected = place == 0 ? 0 : victims_->take(place);
        step.line = place == 0 ? line_from(given_up_, given_up_line_, step.line, program_.n_lines)
                               : expected;
        if (step.line == 0) fail("the L1 gives up a line that is not there");
        step.span = coder_.bit(tag_, step.span != 0);
        given_up_line_ = step.line;
    }

    void tally_before(std::uint64_t position) {
        Step step = present();
        if (!coder_.bit(tally_, step.kind == kind_tally)) return;
        if constexpr (Coder::decodes) step.gap = gap_to(position);
        tally(step);
        next(step);
    }

    void tally(Step& step) {
        if constexpr (Coder::decodes) {
            step.kind = kind_tally;
            step.line = static_cast<Line>(tallies_->size());
            tallies_->push_back(tally_model_.code(coder_, {}));
            stall_ += tallies_->back().stall;
            if (stall_ > most_stall) fail("it stalls longer than a replay can last");
        } else {
            tally_model_.code(coder_, (*tallies_)[step.line]);
        }
    }

    Coder& coder_;
    const Machine& machine_;
    const Program& program_;
    const bool prefetches_;
    HeldLines held_;
    const SharedLines shared_;

    Probability kept_[Past::contexts];
    Symbol<what_bits> what_[what_end][Past::times];
    Symbol<2> span_[what_end];
    Probability pushes_[what_end][2], trains_[2], begins_;
    Number told_span_, other_span_[16], gap_, age_, left_, ahead_[2], ahead_span_;
    Probability there_, tally_, victim_[2][ExpectedVictims::contexts], tag_;
    Symbol<extra_bits> extra_[what_end + 1][2][extra_end];
    Symbol<what_bits> what_apart_;
    Number place_of_victim_, given_up_, apart_, gap_apart_, reads_, writes_, span_apart_;
    Symbol<8> flags_;
    TallyModel tally_model_;
    std::uint32_t latest_what_ = 0;
    bool latest_pushes_ = false;

    // Of the stream under way.
    std::uint32_t stream_ = 0;
    Made<StreamPlan>* plan_ = nullptr;
    Made<std::vector<Tally>>* tallies_ = nullptr;
    std::unique_ptr<Past> past_;
    std::unique_ptr<ExpectedVictims> victims_;
    std::size_t at_ = 0, most_steps_ = 0;  // in the plan
    Line asked_ = 0;                       // the latest that was accessed
    Line beside_ = 0;                      // the latest that was accessed or fetched ahead
    Line line_apart_ = 0, given_up_line_ = 0;
    std::uint64_t instructions_ = 0, stall_ = 0;
};
}  // namespace autofinity::sim
