#include "later_uses.hpp"

#include <algorithm>

#include "prefetcher.hpp"
#include "private_stage.hpp"
#include "trace/huffman.h"

namespace autofinity::sim {
namespace {

constexpr std::size_t longest_varint = 10;

// What a use is, beside the distance from the one before: a number that leaves room for short
// distances in a byte.
constexpr unsigned use_bits = 5;
constexpr std::uint8_t accesses = 6;  // ways to access a line
constexpr std::uint8_t first_miss = 2 * accesses, first_victim = first_miss + accesses,
                       what_ahead = first_victim + 2, what_kept = what_ahead + 1,
                       what_anew = what_kept + 1;
static_assert(what_anew < 1 << use_bits);

std::uint8_t what_of(const LaterUse& use) {
    const auto access = static_cast<std::uint8_t>(use.access * 2 + use.needed);
    switch (use.kind) {
        case LaterUse::hit:
            return static_cast<std::uint8_t>(access + (use.filled != 0) * accesses);
        case LaterUse::miss:
            return static_cast<std::uint8_t>(access + first_miss);
        case LaterUse::victim:
            return static_cast<std::uint8_t>(first_victim + use.modified);
        case LaterUse::ahead:
            return what_ahead;
        case LaterUse::kept:
            return what_kept;
        case LaterUse::anew:
            break;
    }
    return what_anew;
}

LaterUse use_of(std::uint8_t what) {
    LaterUse use;
    if (what >= first_victim) {
        use.kind = what < what_ahead    ? LaterUse::victim
                   : what == what_ahead ? LaterUse::ahead
                   : what == what_kept  ? LaterUse::kept
                                        : LaterUse::anew;
        use.modified = what == first_victim + 1;
        return use;
    }
    use.kind = what >= first_miss ? LaterUse::miss : LaterUse::hit;
    use.access = static_cast<LaterUse::Access>(what % accesses / 2);
    use.needed = what % 2 != 0;
    return use;
}

bool tells_fill(std::uint8_t what) { return what / accesses == 1; }

LaterUse::Access access_of(const Step& step) {
    if (step.writes == 0) return LaterUse::load;
    return step.reads == 0 || (step.flags & step_first_write) != 0 ? LaterUse::store
                                                                   : LaterUse::load_and_store;
}

// The steps of a stage beside those of its program: which of the program's accesses it keeps, and
// which lines come and go besides.
class KeptSteps {
  public:
    explicit KeptSteps(const std::vector<Step>& staged)
        : at_(staged.data()), position_(staged.front().gap) {}

    // The step of an access to `line` at instruction `position`, or null. Asked in order; calls
    // `note(step)` for what was fetched ahead, or left the core or the L1, before.
    template <typename Note>
    const Step* of(Line line, std::uint64_t position, Note&& note) {
        for (; at_->kind != kind_sentinel && position_ < position; position_ += (++at_)->gap)
            if (is_noted(at_->kind) && at_->kind != kind_tally) note(*at_);
        std::uint64_t here = position_;
        const Step* step = at_;
        for (unsigned i = 0; i != most_at_once && step->kind != kind_sentinel && here == position;
             ++i, here += (++step)->gap)
            if (is_access(*step) && step->line == line) return step;
        return nullptr;
    }

  private:
    static constexpr unsigned most_at_once = 64;  // steps of one instruction

    const Step* at_;
    std::uint64_t position_;
};

bool fetches_ahead(const Step* kept, Line line) {
    if ((kept->flags & step_pushes) == 0) return false;
    while (is_pushed((++kept)->kind))
        if (kept->kind == kind_prefetch && kept->line == line) return true;
    return false;
}

}  // namespace

// Goes through the steps of one stream, with an L1 that nobody takes anything from.
class LaterUses::Builder {
  public:
    Builder(const Program& program, std::uint32_t stream, const SharedLines& shared,
            const CoreClass& core)
        : stream_(stream),
          shared_(shared),
          l1_(core.side.l1.sets, core.side.l1.ways),
          filled_(core.side.l1.sets, 0),
          prefetcher_(core.side.prefetch),
          lines_(program.n_lines) {}

    OfStream uses_of(const StreamPlan& plan, const StreamPlan& staged) {
        KeptSteps kept_steps(staged.steps);
        std::uint64_t instructions = 0;
        for (const Step& step : plan.steps) {
            instructions += step.gap;
            if (step.kind == kind_sentinel) break;
            if (!is_access(step)) continue;
            position_ = static_cast<std::uint32_t>(instructions / resolution) + 1;
            access(step, kept_steps.of(step.line, instructions,
                                       [this](const Step& noted) { note(noted); }));
        }
        return in_order_of_lines();
    }

  private:
    // Positions are those of uses, + 1; 0: none.
    struct OfLine {
        std::uint32_t latest;  // use
        std::uint32_t anew;    // the latest step of the stage that told where it is, if not told
        std::uint32_t told;    // number of the latest use
        bool modified;         // since it came
        bool has_victims;      // steps of its own, where the L1 gives it up
    };
    struct Told {
        Line line;
        std::uint32_t position;
        std::uint8_t what;
        std::uint32_t since_filled = 0;  // positions
    };

    void access(const Step& step, const Step* kept) {
        OfLine& of = lines_[step.line];
        const bool hit = finds(step.line);
        const bool writes = step.writes != 0;
        if (kept != nullptr && (writes || found_of(kept->kind) >= Found::beyond)) {
            renew(of);
        } else if (of.latest != position_) {
            LaterUse use;
            use.kind = kept != nullptr ? LaterUse::kept : hit ? LaterUse::hit : LaterUse::miss;
            use.access = access_of(step);
            use.needed = (step.flags & step_dependent) != 0;
            const std::uint32_t filled = filled_[l1_.number(step.line)];
            if (hit && filled > of.latest) use.filled = filled;
            of.latest = position_;
            tell(step.line, use);
        } else if (writes && of.anew == 0) {
            write_too(told_[of.told]);
        }
        of.modified |= writes;
        // Others take lines from the true L1.
        const bool missed = kept != nullptr ? found_of(kept->kind) != Found::l1 : !hit;
        if (missed && prefetcher_.present()) train(step.line, kept);
    }
    void note(const Step& step) {
        OfLine& of = lines_[step.line];
        if (step.kind == kind_victim)
            of.has_victims = true;
        else
            renew(of);
    }
    void renew(OfLine& of) const {
        of.latest = of.anew = position_;
        of.modified = false;
    }
    bool finds(Line line) {
        Word* set = l1_.at(line);
        const int way = l1_.find(set, line);
        if (way >= 0) {
            l1_.to_front(set, way, set[way]);
            return true;
        }
        filled_[l1_.number(line)] = position_;
        if (const Word out = l1_.insert(set, word_of(line, shared)); out != 0)
            give_up(line_of(out));
        return false;
    }
    void give_up(Line line) {
        if (lines_[line].has_victims || shared_.has(line)) return;
        LaterUse use;
        use.kind = LaterUse::victim;
        use.modified = lines_[line].modified;
        tell(line, use);
    }
    void train(Line line, const Step* kept) {
        prefetcher_.train(line, 1, [&](Line ahead) {
            // In pages that are fought for, the replay's own prefetcher sees to it.
            if (kept != nullptr && ((kept->flags & step_trains) != 0 || fetches_ahead(kept, ahead)))
                return;
            LaterUse use;
            use.kind = LaterUse::ahead;
            if (lines_[ahead].latest != 0) tell(ahead, use);
        });
    }

    void tell(Line line, const LaterUse& use) {
        OfLine& of = lines_[line];
        if (of.anew != 0) tell(line, of.anew, {});
        of.anew = 0;
        of.told = static_cast<std::uint32_t>(told_.size());
        tell(line, position_, use);
    }
    void tell(Line line, std::uint32_t position, const LaterUse& use) {
        const auto filled = static_cast<std::uint32_t>(use.filled);
        told_.push_back({line, position - 1, what_of(use), filled == 0 ? 0 : position - filled});
    }
    // A use that is not told, so close is it to this one, writes.
    static void write_too(Told& told) {
        LaterUse use = use_of(told.what);
        if (use.access != LaterUse::load) return;
        use.access = LaterUse::load_and_store;
        use.filled = tells_fill(told.what);
        told.what = what_of(use);
    }

    // By line, and those of a line in the order of the program.
    OfStream in_order_of_lines() const {
        struct Place {
            std::uint32_t before = 0, bytes = 0;
        };
        Zeroed<Place> places(lines_.size());
        const auto each_coded = [&](auto&& take) {
            for (const Told& told : told_) {
                Place& place = places[told.line];
                const std::uint64_t distance = told.position - place.before;
                std::uint8_t bytes[2 * longest_varint];
                std::uint8_t* end = af_put_varint(bytes, distance << use_bits | told.what);
                if (tells_fill(told.what)) end = af_put_varint(end, told.since_filled);
                place.before = told.position;
                take(place, bytes, end);
            }
        };
        each_coded([](Place& place, const std::uint8_t* begin, const std::uint8_t* end) {
            place.bytes += static_cast<std::uint32_t>(end - begin);
        });
        OfStream found;
        std::uint64_t all = 0;
        for (Line line = 0; line < places.size(); ++line) all += places[line].bytes;
        if (all > most_bytes) return found;
        std::uint32_t begin = 0;
        for (Line line = 0; line < places.size(); ++line) {
            if (places[line].bytes == 0) continue;
            found.lines.push_back(line);
            found.begin.push_back(begin);
            begin += places[line].bytes;
            places[line] = {0, found.begin.back()};
        }
        found.begin.push_back(begin);
        found.uses.resize(begin);
        each_coded([&](Place& place, const std::uint8_t* from, const std::uint8_t* end) {
            std::copy(from, end, found.uses.begin() + place.bytes);
            place.bytes += static_cast<std::uint32_t>(end - from);
        });
        return found;
    }

    // Of a stream. Where there would be more, nothing is told, and the stage will hardly fit.
    static constexpr std::uint64_t most_bytes = ~std::uint32_t{0};

    const std::uint32_t stream_;
    const SharedLines& shared_;
    L1Sets l1_;
    std::vector<std::uint32_t> filled_;  // of each set: its latest miss
    Prefetcher prefetcher_;
    Zeroed<OfLine> lines_;
    std::vector<Told> told_;
    std::uint32_t position_ = 0;  // of the access, + 1
};

LaterUses::LaterUses(const Program& program, const std::vector<StreamPlan>& staged,
                     const SharedLines& shared, const CoreClass& core) {
    for (std::uint32_t i = 0; i < staged.size(); ++i)
        streams_.push_back(
            Builder(program, i, shared, core).uses_of(program.streams[i], staged[i]));
}

std::shared_ptr<const LaterUses> later_uses_on(const Machine& machine, const Program& program,
                                               const std::vector<StreamPlan>& staged,
                                               const SharedLines& shared) {
    if (!machine.llc_inclusive && machine.directory.ways == 0) return nullptr;
    return std::make_shared<const LaterUses>(program, staged, shared, machine.classes.at(0));
}

std::size_t LaterUses::lines() const {
    std::size_t lines = 0;
    for (const OfStream& of : streams_) lines += of.lines.size();
    return lines;
}

LaterUsesReader::LaterUsesReader(std::shared_ptr<const LaterUses> uses)
    : uses_(std::move(uses)), reached_(uses_->lines()) {
    std::size_t first = 0;
    for (const LaterUses::OfStream& of : uses_->streams_) {
        first_.push_back(first);
        first += of.lines.size();
    }
}

std::size_t LaterUsesReader::place_of(std::uint32_t stream, Line line) const {
    const std::vector<Line>& lines = uses_->streams_[stream].lines;
    const auto at = std::lower_bound(lines.begin(), lines.end(), line);
    return at == lines.end() || *at != line ? none : static_cast<std::size_t>(at - lines.begin());
}

// From where the replay was the last time: it does not go back.
LaterUsesReader::Cursor LaterUsesReader::skip_to(std::uint32_t stream, std::size_t place,
                                                 std::uint64_t position) {
    Cursor& reached = reached_[first_[stream] + place];
    for (Cursor at = reached; has(stream, place, at); reached = at)
        if (next(stream, place, at).at / LaterUses::resolution > position) break;
    return reached;
}

bool LaterUsesReader::has(std::uint32_t stream, std::size_t place, const Cursor& at) const {
    const std::vector<std::uint32_t>& begin = uses_->streams_[stream].begin;
    return begin[place] + at.byte < begin[place + 1];
}

LaterUse LaterUsesReader::next(std::uint32_t stream, std::size_t place, Cursor& at) const {
    const LaterUses::OfStream& of = uses_->streams_[stream];
    const std::uint8_t* const begin = of.uses.data() + of.begin[place];
    std::uint64_t told = 0;
    const std::uint8_t* const end = of.uses.data() + of.uses.size();
    const std::uint8_t* next = af_get_varint(begin + at.byte, end, &told);
    const auto what = static_cast<std::uint8_t>(told & ((1u << use_bits) - 1));
    LaterUse use = use_of(what);
    at.before += static_cast<std::uint32_t>(told >> use_bits);
    use.at = at.before * LaterUses::resolution;
    if (tells_fill(what)) {
        next = af_get_varint(next, end, &told);
        use.filled = (at.before - told) * LaterUses::resolution + LaterUses::resolution / 2;
    }
    at.byte = static_cast<std::uint32_t>(next - begin);
    return use;
}

}  // namespace autofinity::sim
