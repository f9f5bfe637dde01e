// The private stage: what the caches and TLBs of a core make of a program, found once and used for
// every placement.
//
//   Program (all accesses) ──derive_private_stage──► Program (what leaves the core or might) ──►
//   replays
//
// What happens in a thread's own L1, L2 and TLBs does not depend on where the thread runs, unless
// another core takes a line away. So one replay, in which all cores are as close as can be and an
// LLC is nothing but nearer than memory, finds for each access where it hits and what it pushes
// out. Only these are kept as steps:
//  · misses of the L2, with the lines that leave the core (leave) after them, and those that would
//    have left had no other core taken them by then (taken_lines.hpp);
//  · the first access to a line, and the first that writes, in each stretch between two
//    synchronisation steps of the thread, if another thread also uses the line in the region and
//    one of them writes it (shared_lines.hpp). In between nobody can take the line without a race;
//  · all accesses to lines for which this is not so (false sharing, races): two threads were seen
//    to use them, one writing, in stretches that no synchronisation orders (stretch_order.hpp), or
//    one to write what another's prefetcher brings. Expanded like any run (runs.cpp);
//    which lines they are a derivation of its own finds first;
//  · all writes to a thread's own lines that others' prefetchers have come for (raided);
//  · the first write to a line that was loaded: the core may have got it shared;
//  · misses of the L1 in pages where threads often race, or a prefetch finds no free buffer: what
//    the prefetcher does there is up to who takes a line from whom, and to how soon lines come, and
//    it is trained in the replay (step_trains), from the start: the first derivation finds these
//    pages, too;
//  · lines of several threads that the L1 gives up: whether another has taken them by then, or had
//    them cleaned, is up to the distances, and what is left of a line that is lost is up to where
//    it was;
//  · private misses (L2 hits, TLB misses) in the shadow of an L2 miss, where they compete for miss
//    buffers and the window; atomics; everything that is no access.
// The rest becomes tallies: counts and the time in which nothing could issue, at least every
// 4,096 instructions, and when a step that is kept would be early without it, or a wait for a miss
// before it may have hidden it.
//
// In a replay of the derived program the cores have no arrays. The directory's sharers and owner,
// with the owner's state, say what a core holds; each kept step says where the line would be if
// nobody had taken it. What came of it that others took lines, and when they did, is found out
// there:
//  · whether a line that is gone has left a tag in the L1, so that its miss is a coherence miss,
//    and whether a prefetcher still follows a page that others race for (core_past.hpp);
//  · which lines stay in an L2 that has free places (l2_holes.hpp);
//  · where the thread misses next what an inclusive LLC or a full directory takes back
//    (later_uses.hpp).
//
// Approximations (sim/stage_fitting.py compares each stage with the full stream before it is used,
// scripts/compare_private_stage.py all of a suite):
//  · what takes the place of a lost line in an L1 is what took it in the derivation;
//  · prefetches in pages that nobody races for are those of the derivation, though pages that are
//    raced for may have taken a stream more or less from them.
//
// Not for programs with work units (who runs a unit decides what it finds in the caches), nor for
// placements in which threads share cores otherwise than in the derivation, migrate, or pages move.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "core_past.hpp"
#include "known_races.hpp"
#include "later_uses.hpp"
#include "machine.hpp"
#include "private_clock.hpp"
#include "program.hpp"
#include "shared_lines.hpp"
#include "stretch_order.hpp"
#include "taken_lines.hpp"
#include "zeroed.hpp"

namespace autofinity::sim {

enum class Mode : std::uint8_t {
    full,     // every access, cores with arrays
    watched,  // the same, and detectors are told
    derive,   // the same at the shortest distances, LLCs being but nearer; a recorder takes it down
    staged,   // derived steps, cores without arrays
};

// Where an access finds its line, and its page's translation. `tag`: beyond the core, but the L1
// would have it, had another core not taken it; the L2 may have been given it since.
enum class Found : std::uint8_t { l1, l2, tag_and_l2, beyond, tag };
enum class Translated : std::uint8_t { tlb1, tlb2, walk, walk_beyond };

// Kinds of derived steps, beside those of the trace.
// kind_derived | Found << 2 | Translated: an access
inline constexpr std::uint8_t kind_leave = 0x60;     // the line leaves the core
inline constexpr std::uint8_t kind_prefetch = 0x61;  // the line is fetched ahead into the L2
inline constexpr std::uint8_t kind_tally = 0x62;     // line: index of the tally
inline constexpr std::uint8_t kind_victim = 0x63;    // the L1 gives the line up

// Of these, the first kind that leaves the core; all up to kind_prefetch do, but for kind_leave.
inline constexpr std::uint8_t first_that_fetches =
    kind_derived | static_cast<unsigned>(Found::beyond) << 2;

inline constexpr bool is_pushed(std::uint8_t kind) {
    return kind == kind_leave || kind == kind_prefetch;
}
// For the page-table entry that the access before it has walked to: before it, in time.
inline constexpr bool is_left_by_walk(const Step& step) {
    return step.kind == kind_leave && step.span != 0;
}
// Of a stage, and no access.
inline constexpr bool is_noted(std::uint8_t kind) {
    return kind >= kind_leave && kind <= kind_victim;
}
// Instructions between an access and the next step that has some of its own.
inline std::uint32_t gap_after(const Step* access) {
    while (is_pushed(access[1].kind)) ++access;
    return access[1].gap;
}
inline constexpr std::uint8_t derived_kind(Found found, Translated translated) {
    return static_cast<std::uint8_t>(kind_derived | static_cast<unsigned>(found) << 2 |
                                     static_cast<unsigned>(translated));
}
inline constexpr Found found_of(std::uint8_t kind) { return static_cast<Found>(kind >> 2 & 7); }
inline constexpr Translated translated_of(std::uint8_t kind) {
    return static_cast<Translated>(kind & 3);
}

// Accesses that need no step of their own.
struct Tally {
    std::uint32_t loads = 0, stores = 0;
    std::uint32_t l2_hits = 0;
    std::uint32_t clean_l1_victims = 0, modified_l1_victims = 0;
    std::uint32_t tlb2_hits = 0, walks = 0;
    std::uint32_t stall = 0;  // ticks

    bool operator==(const Tally&) const = default;
};

// What a stage is valid for: one kind of core.
struct PrivateGeometry {
    CoreClass core;
    std::uint32_t page_bytes = 0;
    std::uint64_t seed = 0;                     // of the page colours
    std::vector<std::uint32_t> core_of_stream;  // numbered in order of appearance

    PrivateGeometry() = default;
    PrivateGeometry(const Machine& machine, const std::vector<std::uint32_t>& pu_of_stream,
                    std::uint64_t colour_seed);
    bool operator==(const PrivateGeometry&) const = default;
};

struct PrivateStage {
    PrivateGeometry geometry;
    KnownRaces races;  // from the start of its derivation
    std::vector<Tally> tallies;
    // Of each stream: of its steps that tell one, in order; pages that missed in the L1 and whose
    // prefetches are told, in order, without those that no other page came between.
    std::vector<std::vector<Past>> pasts;
    std::vector<std::vector<std::uint32_t>> missed_pages;
    std::shared_ptr<const LaterUses> later_uses;  // none: of a machine that takes no lines back
    // Accesses that have steps of their own, and of these those whose outcome is up to their
    // timing.
    std::uint64_t kept = 0, kept_racing = 0;
};

// What happened on the way: leave or prefetch.
struct Pushed {
    Line line;
    std::uint8_t kind;
};

// What the core's own side of one access was.
struct PrivateOutcome {
    Found found = Found::l1;
    Translated translated = Translated::tlb1;
    bool got_write = false;   // the line was there, but had only been loaded
    bool prefetched = false;  // a prefetch had brought the line, or has it on its way
    bool dropped = false;     // a prefetch found no free buffer
    std::vector<Word> l1_victims;
    std::vector<Line> aged;       // lines that others took: the L1 would have given them up now
    std::vector<Line> displaced;  // lines whose tags it would have given up, had others taken them
    std::vector<Pushed> pushed;
    std::size_t pushed_by_walk = 0;  // so many first ones: before the access itself

    void clear() {
        found = Found::l1;
        translated = Translated::tlb1;
        got_write = prefetched = dropped = false;
        l1_victims.clear();
        aged.clear();
        displaced.clear();
        pushed.clear();
        pushed_by_walk = 0;
    }
};

// Instructions up to the next step, at most so many.
inline constexpr std::uint64_t most_gap = ~std::uint32_t{0};
inline Step pause_of(std::uint64_t gap) {
    return {0, static_cast<std::uint32_t>(gap),
            0, 0,
            0, static_cast<std::uint8_t>(trace::Kind::compute),
            0};
}

// The L1 gives up a line, or the `tag` of one if it was taken. `reads`: no step tells when the line
// comes back.
inline Step victim_step(Line line, bool tag) { return {line, 0, tag, 0, 0, kind_victim, 0}; }

// Takes down a derivation: decides what is kept and writes the steps of every stream.
class PrivateRecorder {
  public:
    // What is known of `races` is so from the start.
    PrivateRecorder(const Program& program, const Machine& machine, const KnownRaces& races);

    // Whether an L1 hit needs no step. Of the fast path.
    bool covered(std::uint32_t stream, const Step& step) const {
        if (tracks_[stream].forced) return false;
        if (sharing_[step.line] == raided && step.writes != 0) return false;
        if (is_own(step.line)) return true;
        const std::uint32_t right = rights_[stream * lines_ + step.line];
        return right >> 1 == tracks_[stream].stretch && (step.writes == 0 || (right & 1) != 0);
    }
    // L1 hits that needed no step, up to `instructions`.
    void fold_hits(std::uint32_t stream, std::uint64_t loads, std::uint64_t stores,
                   std::uint64_t instructions);
    // An access at instruction `issue`, `next_gap` instructions before the next step.
    void access(std::uint32_t stream, const Step& step, std::uint64_t issue, std::uint32_t next_gap,
                const PrivateOutcome& outcome);
    // A step that is no access is about to be carried out, perhaps not for the first time.
    void other(std::uint32_t stream, const Step* at, std::uint64_t issue, TakenLines* taken);
    // What an access to `line`, which is that step's (a lock's, a barrier's), found.
    void touch(std::uint32_t stream, Line line, const PrivateOutcome& outcome);
    // What the stream has not come to when the region ends: `skip` instructions of the gap are
    // done.
    void rest(std::uint32_t stream, const Step* at, std::uint64_t instructions, std::uint64_t skip);

    // Of a recorder that knew `known` from the start.
    ProgramPtr finish(const Machine& machine, const Program& program, PrivateGeometry geometry,
                      KnownRaces known);
    KnownRaces races() const;

  private:
    // A line that the L1 gives up, when `write` was the number of the latest write of all lines.
    struct Victim {
        Step step;
        Word state = invalid;
        std::uint32_t came_with = 0, write = 0;
        std::size_t at = 0;  // number of its step
    };
    struct Track {
        Track(std::size_t number, std::uint64_t instructions, const CoreClass& core)
            : stream(number), plan{{}, instructions}, clock(core) {}

        std::size_t stream;
        StreamPlan plan;
        std::vector<Past> pasts;
        std::vector<std::uint32_t> missed_pages;
        std::uint32_t missed_page = 0;  // the latest, told or not
        PrivateClock clock;
        std::uint64_t emitted_at = 0, tallied_at = 0;  // instructions
        std::uint64_t shadow_until = 0;
        std::deque<std::uint64_t>
            waits;                     // where the window ends of what may miss, and be waited for
        std::uint64_t stalled_at = 0;  // latest stall that the tallies do not tell
        Ticks lost = 0;                // what the tallies say of the clock
        std::uint32_t stretch = 1;     // number of its present one
        bool forced = false;  // the next access is kept: the latest one's delay depends on it
        const Step* other = nullptr;  // latest step that is no access
        Tally pending;
        // What the L1 has given up since the latest step that others may take, and tags of what
        // they took before that.
        std::vector<Victim> victims;
        std::vector<Step> tags;
        std::vector<Victim> told;  // those that have a step
    };
    // `raided`: own, but others' prefetchers come for it.
    enum Sharing : std::uint8_t { own, ordered, raided, racing };

    bool is_own(Line line) const { return sharing_[line] == own || sharing_[line] == raided; }

    bool take_right(std::uint32_t stream, const Step& step);
    void fetch_ahead(std::uint32_t stream, Line line);
    void race_for(Line line);
    bool may_overlap(std::uint32_t stream, std::uint32_t other, std::uint32_t stretch) {
        return other != stream && stretch != 0 && !order_.is_after(stream, other, stretch);
    }
    // Whether the prefetcher's streams in the line's page are up to the replay.
    bool trains(Line line) const;
    bool is_told(const Pushed& pushed) const {
        return pushed.kind != kind_prefetch || !trains(pushed.line);
    }
    Past past_of(std::uint32_t stream, Line line, std::uint64_t issue) const;
    void note_past(std::uint32_t stream, Line line, std::uint64_t issue,
                   const PrivateOutcome& outcome);
    void count_victims(std::uint32_t stream, const PrivateOutcome& outcome);
    void count_as_came(Track& track, std::uint32_t came_with);
    void note_return(Track& track, Line line);
    bool is_settled(std::uint32_t stream, const Victim& victim) const;
    void tally_settled(std::uint32_t stream);
    void came_with_latest(std::uint32_t stream, Line line) {
        came_with_[stream * lines_ + line] =
            static_cast<std::uint32_t>(tracks_[stream].plan.steps.size());
    }
    void emit(Track& track, Step step, std::uint64_t at);
    void emit_tally(Track& track, std::uint64_t at, std::uint64_t least);
    void tell_hidden(Track& track, std::uint64_t at);
    void tell(Track& track, std::uint64_t at, std::uint64_t least);
    void emit_pushed(std::uint32_t stream, const PrivateOutcome& outcome, std::size_t by_walk);
    Ticks delay_of(const PrivateOutcome& outcome) const;

    const CoreClass& core_;
    std::size_t lines_;
    Line first_lock_line_;  // from which on all are raced for
    const SharedLines shared_;
    Zeroed<std::uint8_t> sharing_;
    Zeroed<std::uint8_t> races_;    // by page
    Zeroed<std::uint32_t> rights_;  // [stream, line]: stretch << 1 | may write
    // [stream, line]: number of the latest step that fetched the line, or that asked first for what
    // the replay's own prefetcher fetches, + 1
    Zeroed<std::uint32_t> came_with_;
    Zeroed<std::uint32_t> given_up_;  // [stream, line]: number of its latest victim's step, + 1
    Zeroed<std::uint32_t> written_;   // number of the line's latest write
    std::uint32_t writes_ = 0;
    Zeroed<std::uint64_t> displaced_;  // [stream, line]: instruction at which it last was, + 1
    Zeroed<std::uint32_t> ahead_;  // [stream, line]: latest stretch in which it was fetched ahead
    StretchOrder order_;
    std::vector<Track> tracks_;
    std::vector<Tally> tallies_;
    std::uint64_t kept_ = 0, kept_racing_ = 0;
};

// Throws SimulationError where there is no stage: of a program with work units or too many streams,
// on a machine without private L2s (none, or shared ones) or with several kinds of cores.
void must_have_stage(const Machine& machine, const Program& program,
                     const std::vector<std::uint32_t>& pu_of_stream);

// Derives the stage of `program` for cores like `machine`'s, with the streams on the same cores as
// in `pu_of_stream`; `races` as an earlier derivation found them, by which one of two is saved.
// Throws SimulationError where there is none, for a program that cannot be replayed, and for races
// of another program.
ProgramPtr derive_private_stage(std::shared_ptr<const Machine> machine, ProgramPtr program,
                                const std::vector<std::uint32_t>& pu_of_stream, std::uint64_t seed,
                                const std::optional<KnownRaces>& races = {});

}  // namespace autofinity::sim
