#include "stage_file.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "error.hpp"
#include "trace/codec.h"

namespace autofinity::sim {
namespace {

// What an access event is: the 20 ways in which a derived access finds line and page, then these.
constexpr std::uint32_t what_leave = 20, what_prefetch = 21, what_trace_access = 22, what_end = 23;
constexpr unsigned what_bits = 5;
constexpr std::uint32_t most_gap = (1u << (32 - what_bits)) - 1;
constexpr std::uint8_t access_kind = static_cast<std::uint8_t>(trace::Kind::access);
constexpr std::uint8_t compute_kind = static_cast<std::uint8_t>(trace::Kind::compute);

enum Other : std::uint8_t { other_of_program = 1, other_tally, other_gap };

constexpr std::size_t tally_fields = 9;
constexpr std::uint64_t most_stall = std::uint64_t{1} << 48;  // of a stream, ticks: eight hours

using TallyValues = std::array<std::uint32_t, tally_fields>;

TallyValues values_of(const Tally& t) {
    return {t.loads,
            t.stores,
            t.l2_hits,
            t.clean_l1_victims,
            t.modified_l1_victims,
            t.invalid_l1_victims,
            t.tlb2_hits,
            t.walks,
            t.stall};
}

Tally tally_of(const TallyValues& v) {
    return {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]};
}

std::uint32_t what_of(std::uint8_t kind) {
    return kind == kind_leave      ? what_leave
           : kind == kind_prefetch ? what_prefetch
           : kind == access_kind   ? what_trace_access
                                   : std::uint32_t{kind} - kind_derived;
}

std::uint8_t kind_of(std::uint32_t what) {
    return what == what_leave          ? kind_leave
           : what == what_prefetch     ? kind_prefetch
           : what == what_trace_access ? access_kind
                                       : static_cast<std::uint8_t>(kind_derived + what);
}

bool is_of_program(const Step& step) {
    return !is_access(step) && !is_pushed(step.kind) && step.kind != kind_tally &&
           step.kind != compute_kind;
}

class Writer {
  public:
    void number(std::uint64_t value) {
        std::uint8_t digits[10];
        bytes_.insert(bytes_.end(), digits, af_put_varint(digits, value));
    }

    void steps(const StreamPlan& plan) {
        af_encoder_reset(encoder_.get());
        for (const Step& step : plan.steps) {
            put(step);
            if (af_encoder_full(encoder_.get())) seal();
            if (step.kind == kind_sentinel) break;
        }
        seal();
        number(0);
    }

    void column(const std::vector<std::uint8_t>& from) {
        const std::size_t before = bytes_.size();
        bytes_.resize(before + from.size() + 16);
        const std::uint8_t* end = af_pack_column(bytes_.data() + before, from.data(), from.size());
        bytes_.resize(static_cast<std::size_t>(end - bytes_.data()));
    }

    void tallies(const std::vector<Tally>& all, const StreamPlan& plan) {
        std::array<std::vector<std::uint8_t>, tally_fields> columns;
        for (const Step& step : plan.steps) {
            if (step.kind != kind_tally) continue;
            const TallyValues values = values_of(all[step.line]);
            for (std::size_t i = 0; i < tally_fields; ++i) {
                std::uint8_t digits[10];
                columns[i].insert(columns[i].end(), digits, af_put_varint(digits, values[i]));
            }
        }
        for (const auto& each : columns) column(each);
    }

    std::vector<std::uint8_t> take() { return std::move(bytes_); }

  private:
    void put(const Step& step) {
        std::uint32_t gap = step.gap;
        while (gap > most_gap) {
            const af_event filler{0, most_gap, 0, 0, 0, 0, other_gap, 0, 0};
            af_encode(encoder_.get(), &filler);
            gap -= most_gap;
        }
        af_event event{0, gap, step.span, 0, 0, 0, 0, 0, 0};
        if (is_access(step) || is_pushed(step.kind)) {
            event.value = step.line;
            event.gap = gap << what_bits | what_of(step.kind);
            event.reads = step.reads;
            event.writes = step.writes;
            event.flags = step.flags;
        } else if (step.kind == kind_tally) {
            event.kind = other_tally;
        } else {
            event.kind = step.kind == compute_kind ? other_gap : other_of_program;
        }
        af_encode(encoder_.get(), &event);
    }

    void seal() {
        const std::uint32_t events = encoder_->events;
        if (events == 0) return;
        std::vector<std::uint8_t> payload(AF_PAYLOAD_BYTES);
        const std::uint8_t* end = af_pack(encoder_.get(), payload.data());
        payload.resize(static_cast<std::size_t>(end - payload.data()));
        number(events);
        number(payload.size());
        bytes_.insert(bytes_.end(), payload.begin(), payload.end());
        af_encoder_reset(encoder_.get());
    }

    std::vector<std::uint8_t> bytes_;
    std::unique_ptr<af_encoder> encoder_ = std::make_unique<af_encoder>();
};

class Reader {
  public:
    Reader(std::span<const std::uint8_t> bytes, const Machine& machine, const Program& program)
        : at_(bytes.data()),
          end_(bytes.data() + bytes.size()),
          program_(program),
          prefetches_(machine.classes.at(0).side.prefetch.streams != 0) {}

    std::uint64_t number() {
        std::uint64_t value;
        const std::uint8_t* next = af_get_varint(at_, end_, &value);
        if (next == nullptr) damaged("it ends too early");
        at_ = next;
        return value;
    }

    bool at_end() const { return at_ == end_; }

    StreamPlan stream(std::uint32_t number_of_stream, std::vector<Tally>& tallies) {
        stream_ = number_of_stream;
        const StreamPlan& original = program_.streams[stream_];
        StreamPlan plan{{}, original.instructions};
        next_own_ = original.steps.data();
        last_ = original.steps.data() + original.steps.size();
        first_tally_ = n_tallies_ = tallies.size();
        instructions_ = 0;
        ended_ = false;
        std::vector<af_event> events;
        while (const std::uint64_t count = number()) {
            const std::uint64_t size = number();
            if (count > AF_CHUNK_MAX_EVENTS || size > static_cast<std::uint64_t>(end_ - at_))
                damaged("a chunk is too long");
            events.resize(count);
            if (af_decode(decoder_.get(), at_, at_ + size, events.data(),
                          static_cast<std::uint32_t>(count)) != nullptr)
                damaged("a chunk cannot be decoded");
            at_ += size;
            for (const af_event& event : events) plan.steps.push_back(step_of(event));
        }
        if (!ended_) damaged("steps of the program are missing");
        if (instructions_ != original.instructions)
            damaged("it has another number of instructions");
        plan.steps.resize(plan.steps.size() + steps_foreseen, {0, 0, 0, 0, 0, kind_sentinel, 0});
        plan.steps.shrink_to_fit();
        take_tallies(tallies);
        return plan;
    }

    [[noreturn]] void damaged(const char* what) const {
        throw SimulationError("damaged private stage, stream " + std::to_string(stream_) + ": " +
                              what + "; derive it again");
    }

  private:
    Step step_of(const af_event& event) {
        if (ended_) damaged("something follows its end");
        Step step{0, event.gap, event.span, 0, 0, 0, 0};
        if (event.kind == 0) {
            access(event, step);
        } else if (event.kind == other_of_program) {
            while (next_own_ != last_ && !is_of_program(*next_own_)) ++next_own_;
            if (next_own_ == last_) damaged("it has more steps than the program");
            step = *next_own_++;
            step.gap = event.gap;
            if (event.span != 0) step.span = event.span;
            ended_ = step.kind == kind_sentinel;
        } else if (event.kind == other_tally) {
            step.kind = kind_tally;
            step.flags = step_free;
            step.line = static_cast<Line>(n_tallies_++);
        } else if (event.kind == other_gap) {
            step.kind = compute_kind;
        } else {
            damaged("a step of an unknown kind");
        }
        instructions_ += step.gap;
        return step;
    }

    void access(const af_event& event, Step& step) const {
        const std::uint32_t what = event.gap & ((1u << what_bits) - 1);
        if (what >= what_end || (what == what_prefetch && !prefetches_))
            damaged("a step of an unknown kind");
        // Lines of locks and page tables leave a core, but are no program's to access.
        const bool pushed = what == what_leave || what == what_prefetch;
        const Line end = pushed ? program_.n_lines : program_.first_lock_line;
        if (event.value < (1u << group_shift) || event.value >= end)
            damaged("a line that the program does not have");
        step.line = static_cast<Line>(event.value);
        step.gap = event.gap >> what_bits;
        step.kind = kind_of(what);
        step.reads = event.reads;
        step.writes = event.writes;
        step.flags = event.flags;
        if ((step.flags & step_run) != 0 && (step.span == 0 || step.reads + step.writes < 2))
            damaged("a run of one access");
    }

    void take_tallies(std::vector<Tally>& tallies) {
        const std::size_t count = n_tallies_ - first_tally_;
        std::vector<TallyValues> values(count);
        for (std::size_t field = 0; field < tally_fields; ++field) {
            std::vector<std::uint8_t> column(count * 5);
            std::size_t size;
            const std::uint8_t* next =
                af_unpack_column(at_, end_, column.data(), column.size(), &size);
            if (next == nullptr) damaged("its tallies cannot be decoded");
            at_ = next;
            const std::uint8_t* digit = column.data();
            const std::uint8_t* const last = digit + size;
            for (TallyValues& each : values) {
                std::uint64_t value;
                digit = af_get_varint(digit, last, &value);
                if (digit == nullptr || value > UINT32_MAX)
                    damaged("its tallies cannot be decoded");
                each[field] = static_cast<std::uint32_t>(value);
            }
            if (digit != last) damaged("it has more tallies than steps for them");
        }
        std::uint64_t stall = 0;
        for (const TallyValues& each : values) {
            tallies.push_back(tally_of(each));
            stall += tallies.back().stall;
        }
        if (stall > most_stall) damaged("it stalls longer than a replay can last");
    }

    const std::uint8_t* at_;
    const std::uint8_t* end_;
    const Program& program_;
    const bool prefetches_;
    std::unique_ptr<af_decoder> decoder_ = std::make_unique<af_decoder>();
    // Of the stream under way.
    std::uint32_t stream_ = 0;
    const Step* next_own_ = nullptr;
    const Step* last_ = nullptr;
    std::size_t first_tally_ = 0, n_tallies_ = 0;
    std::uint64_t instructions_ = 0;
    bool ended_ = false;
};

}  // namespace

std::vector<std::uint8_t> packed_stage(const Program& staged) {
    if (staged.stage == nullptr) throw SimulationError("the program has no private stage to keep");
    Writer writer;
    writer.number(staged.streams.size());
    writer.number(staged.stage->kept);
    writer.number(staged.stage->kept_racing);
    for (const StreamPlan& plan : staged.streams) {
        writer.steps(plan);
        writer.tallies(staged.stage->tallies, plan);
    }
    return writer.take();
}

ProgramPtr unpacked_stage(const Machine& machine, const Program& program,
                          const std::vector<std::uint32_t>& pu_of_stream, std::uint64_t seed,
                          std::span<const std::uint8_t> bytes) {
    must_have_stage(machine, program, pu_of_stream);
    Reader reader(bytes, machine, program);
    auto stage = std::make_shared<PrivateStage>();
    stage->geometry = PrivateGeometry(machine, pu_of_stream, seed);
    if (reader.number() != program.streams.size()) reader.damaged("it is of another program");
    stage->kept = reader.number();
    stage->kept_racing = reader.number();
    std::vector<StreamPlan> plans;
    for (std::uint32_t i = 0; i < program.streams.size(); ++i)
        plans.push_back(reader.stream(i, stage->tallies));
    if (!reader.at_end()) reader.damaged("something follows its end");
    return std::make_shared<const Program>(program, std::move(plans), std::move(stage));
}

}  // namespace autofinity::sim
