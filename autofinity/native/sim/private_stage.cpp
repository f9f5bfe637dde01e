#include "private_stage.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "error.hpp"
#include "simulation.hpp"

namespace autofinity::sim {
namespace {

constexpr std::uint64_t tally_every = 4096;          // instructions
constexpr std::uint64_t longest_silence = 1u << 16;  // instructions without a step
// Accesses to racing lines of a page after which its prefetches are left to the replay. Where fewer
// race, a prefetcher that follows more pages than it has streams for would find room for this one.
constexpr std::uint8_t enough_races = 64;

}  // namespace

PrivateGeometry::PrivateGeometry(const Machine& machine,
                                 const std::vector<std::uint32_t>& pu_of_stream,
                                 std::uint64_t colour_seed)
    : core(machine.classes[machine.class_of_core[machine.core_of_pu.at(pu_of_stream.at(0))]]),
      page_bytes(machine.page_bytes),
      seed(colour_seed) {
    std::unordered_map<std::uint32_t, std::uint32_t> number;
    for (const std::uint32_t pu : pu_of_stream)
        core_of_stream.push_back(
            number.try_emplace(machine.core_of_pu.at(pu), static_cast<std::uint32_t>(number.size()))
                .first->second);
}

PrivateRecorder::PrivateRecorder(const Program& program, const Machine& machine,
                                 const KnownRaces& races)
    : core_(machine.classes.at(0)),
      lines_(program.n_lines),
      first_lock_line_(program.first_lock_line),
      shared_(program, machine),
      sharing_(program.n_lines),
      races_(program.n_pages()),
      rights_(std::size_t{program.n_lines} * program.streams.size()),
      came_with_(std::size_t{program.n_lines} * program.streams.size()),
      given_up_(std::size_t{program.n_lines} * program.streams.size()),
      written_(program.n_lines),
      displaced_(std::size_t{program.n_lines} * program.streams.size(), true),
      ahead_(std::size_t{program.n_lines} * program.streams.size()),
      order_(program) {
    for (Line line = 0; line < program.first_lock_line; ++line)
        if (shared_.has(line)) sharing_[line] = ordered;
    for (Line line = program.first_lock_line; line < program.n_lines; ++line) {
        sharing_[line] = racing;
        races_[line >> page_shift] = enough_races;
    }
    for (const std::uint32_t page : races.pages) races_[page] = enough_races;
    for (const Line line : races.lines) sharing_[line] = racing;
    for (const StreamPlan& plan : program.streams)
        tracks_.emplace_back(tracks_.size(), plan.instructions, core_);
}

void PrivateRecorder::fold_hits(std::uint32_t stream, std::uint64_t loads, std::uint64_t stores,
                                std::uint64_t instructions) {
    Track& track = tracks_[stream];
    track.pending.loads += static_cast<std::uint32_t>(loads);
    track.pending.stores += static_cast<std::uint32_t>(stores);
    if (instructions - track.emitted_at >= longest_silence) emit_tally(track, instructions, 0);
}

void PrivateRecorder::access(std::uint32_t stream, const Step& step, std::uint64_t issue,
                             std::uint32_t next_gap, const PrivateOutcome& outcome) {
    Track& track = tracks_[stream];
    if (outcome.dropped) races_[step.line >> page_shift] = enough_races;
    if (step.writes != 0 && sharing_[step.line] != own) written_[step.line] = ++writes_;
    const bool right = take_right(stream, step);
    const bool fetched = outcome.found >= Found::beyond;
    const bool in_l2 = outcome.found == Found::l2;
    const bool trained = trains(step.line);
    const bool pushes = std::any_of(outcome.pushed.begin(), outcome.pushed.end(),
                                    [this](const Pushed& pushed) { return is_told(pushed); });
    const bool private_miss = in_l2 || outcome.translated != Translated::tlb1;
    const bool kept = fetched || outcome.found == Found::tag_and_l2 || right || outcome.got_write ||
                      outcome.prefetched || outcome.translated == Translated::walk_beyond ||
                      pushes || (trained && in_l2) || track.forced ||
                      (step.flags & step_atomic) != 0 ||
                      (private_miss && issue < track.shadow_until);
    const bool needed = (step.flags & step_dependent) != 0;
    track.forced = false;
    count_victims(stream, outcome);
    if (!kept) {
        note_past(stream, step.line, issue, outcome);
        if (in_l2 && sharing_[step.line] != own) note_return(track, step.line);
        Tally& tally = track.pending;
        tally.loads += step.reads;
        tally.stores += step.writes;
        tally.l2_hits += in_l2;
        tally.tlb2_hits += outcome.translated == Translated::tlb2;
        tally.walks += outcome.translated == Translated::walk;
        tell_hidden(track, issue);
        const Ticks lost = track.clock.lost();
        track.clock.access(issue, delay_of(outcome), needed, next_gap);
        if (track.clock.lost() != lost) track.stalled_at = issue;
        if (!track.victims.empty() && issue - track.emitted_at >= tally_every)
            emit_tally(track, issue, 0);
        return;
    }
    if ((step.flags & step_atomic) != 0) track.clock.drain(issue);
    emit_tally(track, issue, tally_every);
    Step derived = step;
    derived.kind = derived_kind(outcome.found, outcome.translated);
    if (pushes) derived.flags |= step_pushes;
    if (trained) derived.flags |= step_trains;
    if (trained || sharing_[step.line] != own) {
        derived.flags |= step_past;
        track.pasts.push_back(past_of(stream, step.line, issue));
    }
    note_past(stream, step.line, issue, outcome);
    ++kept_;
    kept_racing_ += right && sharing_[step.line] >= raided;
    if (sharing_[step.line] < raided) {
        derived.flags &= static_cast<std::uint8_t>(~step_run);
        derived.span = 0;
    }
    emit(track, derived, issue);
    if (fetched) track.shadow_until = issue + core_.window;
    if (fetched || outcome.got_write || sharing_[step.line] == racing)
        track.waits.push_back(issue + core_.window);
    if (fetched || (trained && (outcome.prefetched || (in_l2 && sharing_[step.line] != racing))))
        came_with_latest(stream, step.line);
    track.forced = needed;
    emit_pushed(stream, outcome, outcome.pushed_by_walk);
}

Ticks PrivateRecorder::delay_of(const PrivateOutcome& outcome) const {
    return (outcome.found == Found::l2 ? core_.side.l2_hit : 0) +
           (outcome.translated != Translated::tlb1 ? core_.side.tlb2_hit : 0) +
           (outcome.translated != Translated::walk
                ? 0
                : core_.side.page_walk + (core_.side.walk_reads_caches ? core_.side.l2_hit : 0));
}

void PrivateRecorder::other(std::uint32_t stream, const Step* at, std::uint64_t issue,
                            TakenLines* taken) {
    Track& track = tracks_[stream];
    if (track.other != nullptr && at <= track.other) return;
    // Until now, other threads may have come for the lines later than they did here; what they
    // write before they meet this one, they have written by then.
    std::vector<Step> tags;
    if (taken != nullptr)
        taken->each_lost_tag([&](Line line) { tags.push_back(victim_step(line, true)); });
    const bool last =
        at->kind == static_cast<std::uint8_t>(trace::Kind::roi_end) || at->kind == kind_sentinel;
    if (last)
        for (const Step& tag : tags) track.victims.push_back({tag});
    if (drains(*at)) track.clock.drain(issue);
    order_.end(stream, track.stretch, *at);
    emit_tally(track, issue, 0);
    emit(track, *at, issue);
    if (!last) track.tags = std::move(tags);
    track.other = at;
    track.forced = false;
    ++track.stretch;
}

void PrivateRecorder::touch(std::uint32_t stream, Line line, const PrivateOutcome& outcome) {
    Track& track = tracks_[stream];
    if (track.plan.steps.empty()) return;
    Step& step = track.plan.steps.back();
    if (step.span == 0 && step.kind < kind_derived) {
        step.span = derived_kind(outcome.found, outcome.translated);
        step.flags |= step_past;
        track.pasts.push_back(past_of(stream, line, track.emitted_at));
    }
    note_past(stream, line, track.emitted_at, outcome);
    count_victims(stream, outcome);
    emit_pushed(stream, outcome, 0);
}

void PrivateRecorder::rest(std::uint32_t stream, const Step* at, std::uint64_t instructions,
                           std::uint64_t skip) {
    Track& track = tracks_[stream];
    emit_tally(track, instructions, 0);
    if (track.other != nullptr && track.other->kind == kind_sentinel) return;
    if (track.other != nullptr && at <= track.other) at = track.other + 1;
    for (std::uint64_t now = instructions - skip;; ++at) {
        now += at->gap;
        emit(track, *at, std::max(now, track.emitted_at));
        if (at->kind == kind_sentinel) return;
    }
}

ProgramPtr PrivateRecorder::finish(const Machine& machine, const Program& program,
                                   PrivateGeometry geometry, KnownRaces known) {
    for (std::uint32_t i = 0; i < tracks_.size(); ++i) tally_settled(i);
    auto stage = std::make_shared<PrivateStage>();
    stage->geometry = std::move(geometry);
    stage->races = std::move(known);
    stage->tallies = std::move(tallies_);
    stage->kept = kept_;
    stage->kept_racing = kept_racing_;
    std::vector<StreamPlan> plans;
    for (Track& track : tracks_) {
        track.plan.steps.resize(track.plan.steps.size() + steps_foreseen,
                                {0, 0, 0, 0, 0, kind_sentinel, 0});
        track.plan.steps.shrink_to_fit();
        plans.push_back(std::move(track.plan));
        stage->pasts.push_back(std::move(track.pasts));
        stage->missed_pages.push_back(std::move(track.missed_pages));
    }
    stage->later_uses = later_uses_on(machine, program, plans, shared_);
    return std::make_shared<const Program>(program, std::move(plans), std::move(stage));
}

KnownRaces PrivateRecorder::races() const {
    KnownRaces found;
    for (std::uint32_t page = 0; page < races_.size(); ++page)
        if (races_[page] == enough_races) found.pages.push_back(page);
    for (Line line = 0; line < first_lock_line_; ++line)
        if (sharing_[line] == racing) found.lines.push_back(line);
    return found;
}

// Whether an access has to ask for its line: its stretch has not used the line so before. Finds out
// who else used the line, or fetched it ahead, in a stretch that may overlap with this one.
bool PrivateRecorder::take_right(std::uint32_t stream, const Step& step) {
    Track& track = tracks_[stream];
    if (sharing_[step.line] == racing || (sharing_[step.line] == raided && step.writes != 0)) {
        std::uint8_t& of_page = races_[step.line >> page_shift];
        if (of_page != enough_races) ++of_page;
        return true;
    }
    if (is_own(step.line)) return false;
    std::uint32_t& right = rights_[stream * lines_ + step.line];
    const bool first = right >> 1 != track.stretch;
    if (!first && (step.writes == 0 || (right & 1) != 0)) return false;
    for (std::uint32_t i = 0; i < tracks_.size(); ++i) {
        const std::uint32_t theirs = rights_[i * lines_ + step.line];
        if (((step.writes != 0 || (theirs & 1) != 0) && may_overlap(stream, i, theirs >> 1)) ||
            (step.writes != 0 && may_overlap(stream, i, ahead_[i * lines_ + step.line]))) {
            race_for(step.line);
            return true;
        }
    }
    right = track.stretch << 1 | (step.writes != 0 || (!first && (right & 1) != 0) ? 1u : 0u);
    return true;
}

// A prefetcher takes part in races: a line that it fetches is taken from who writes it, and when it
// does is up to the misses of its core.
void PrivateRecorder::fetch_ahead(std::uint32_t stream, Line line) {
    if (sharing_[line] == own && shared_.is_of_another(line, stream)) sharing_[line] = raided;
    if (sharing_[line] != ordered) return;
    ahead_[stream * lines_ + line] = tracks_[stream].stretch;
    for (std::uint32_t i = 0; i < tracks_.size(); ++i)
        if (const std::uint32_t theirs = rights_[i * lines_ + line];
            (theirs & 1) != 0 && may_overlap(stream, i, theirs >> 1))
            return race_for(line);
}

// From now on nobody keeps a right to the line.
void PrivateRecorder::race_for(Line line) {
    sharing_[line] = racing;
    for (std::size_t i = 0; i < tracks_.size(); ++i) rights_[i * lines_ + line] = 0;
}

// Before the access itself has changed anything.
Past PrivateRecorder::past_of(std::uint32_t stream, Line line, std::uint64_t issue) const {
    const Track& track = tracks_[stream];
    return {Past::since(displaced_[stream * lines_ + line], issue),
            static_cast<std::uint32_t>(track.missed_pages.size())};
}

void PrivateRecorder::note_past(std::uint32_t stream, Line line, std::uint64_t issue,
                                const PrivateOutcome& outcome) {
    Track& track = tracks_[stream];
    if (const std::uint32_t page = line >> page_shift;
        outcome.found != Found::l1 && std::exchange(track.missed_page, page) != page &&
        !trains(line))
        track.missed_pages.push_back(page);
    for (const Line other : outcome.displaced)
        if (!is_own(other)) displaced_[stream * lines_ + other] = issue + 1;
}

bool PrivateRecorder::trains(Line line) const {
    return core_.side.prefetch.streams != 0 && races_[line >> page_shift] == enough_races;
}

void PrivateRecorder::emit(Track& track, Step step, std::uint64_t at) {
    for (const Step& tag : std::exchange(track.tags, {})) track.plan.steps.push_back(tag);
    for (Victim& victim : std::exchange(track.victims, {})) {
        emit(track, victim.step, at);
        const std::size_t number = track.plan.steps.size();
        given_up_[track.stream * lines_ + victim.step.line] = static_cast<std::uint32_t>(number);
        if (victim.state == invalid) continue;
        victim.at = number - 1;
        track.told.push_back(victim);
    }
    while (at - track.emitted_at > most_gap) {
        track.plan.steps.push_back(pause_of(most_gap));
        track.emitted_at += most_gap;
    }
    step.gap = static_cast<std::uint32_t>(at - track.emitted_at);
    track.emitted_at = at;
    track.plan.steps.push_back(step);
}

// Puts what is pending down, if it is `least` instructions old or has delayed the stream at all: a
// step that came three clocks early could take a line before a thread that had been there first.
void PrivateRecorder::emit_tally(Track& track, std::uint64_t at, std::uint64_t least) {
    tell_hidden(track, at);
    tell(track, at, least);
}

// What is pending comes before a wait for a miss that the window ends at: of that wait it is a
// part, and told after it it would be too much.
void PrivateRecorder::tell_hidden(Track& track, std::uint64_t at) {
    bool waited = false;
    for (; !track.waits.empty() && track.waits.front() <= at; track.waits.pop_front())
        waited |= track.waits.front() > track.stalled_at;
    if (waited) tell(track, std::max(track.stalled_at, track.emitted_at), most_gap);
}

void PrivateRecorder::tell(Track& track, std::uint64_t at, std::uint64_t least) {
    const Ticks stall = track.clock.lost() - track.lost;
    if (stall == 0 && (at - track.tallied_at < least || track.pending == Tally{})) return;
    track.tallied_at = at;
    track.lost = track.clock.lost();
    track.pending.stall = static_cast<std::uint32_t>(stall);
    emit(track, {static_cast<Line>(tallies_.size()), 0, 0, 0, 0, kind_tally, 0}, at);
    tallies_.push_back(track.pending);
    track.pending = Tally{};
}

// Right behind the step that pushes, before what the L1 has given up since.
void PrivateRecorder::emit_pushed(std::uint32_t stream, const PrivateOutcome& outcome,
                                  std::size_t by_walk) {
    Track& track = tracks_[stream];
    for (const Pushed& pushed : outcome.pushed) {
        if (pushed.kind == kind_prefetch) fetch_ahead(stream, pushed.line);
        if (!is_told(pushed)) continue;
        const bool walked = pushed.kind == kind_leave && &pushed < outcome.pushed.data() + by_walk;
        track.plan.steps.push_back({pushed.line, 0, walked, 0, 0, pushed.kind, 0});
        if (pushed.kind == kind_prefetch) came_with_latest(stream, pushed.line);
    }
}

}  // namespace autofinity::sim
