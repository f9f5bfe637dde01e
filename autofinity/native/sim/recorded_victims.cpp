// What the L1s give up while a stage is taken down: steps where it is up to the others what a line
// is by then, tallies where it is not.
#include <utility>

#include "private_stage.hpp"

namespace autofinity::sim {

// Whether the LLC gives a loaded line clean or dirty is known in the replay only: the step that it
// came with says how often the L1 gives it up before it is written.
void PrivateRecorder::count_victims(std::uint32_t stream, const PrivateOutcome& outcome) {
    Track& track = tracks_[stream];
    for (const Line line : outcome.aged) track.victims.push_back({victim_step(line, false)});
    for (const Word word : outcome.l1_victims) {
        const Word state = state_of(word);
        if (sharing_[line_of(word)] == raided || shared_.has(line_of(word))) {
            track.victims.push_back({victim_step(line_of(word), false), state,
                                     came_with_[stream * lines_ + line_of(word)], writes_});
            continue;
        }
        ++(is_dirty(state) ? track.pending.modified_l1_victims : track.pending.clean_l1_victims);
        if (state == shared) count_as_came(track, came_with_[stream * lines_ + line_of(word)]);
    }
}

// A line comes back from the L2 to an access that has no step: that it left is no news for long.
void PrivateRecorder::note_return(Track& track, Line line) {
    for (auto victim = track.victims.rbegin(); victim != track.victims.rend(); ++victim)
        if (victim->step.line == line) {
            victim->step.reads = 1;
            return;
        }
    if (const std::uint32_t number = given_up_[track.stream * lines_ + line]; number != 0)
        track.plan.steps[number - 1].reads = 1;
}

void PrivateRecorder::count_as_came(Track& track, std::uint32_t came_with) {
    if (came_with == 0) return;
    Step& step = track.plan.steps[came_with - 1];
    if ((step.flags & step_run) == 0 && step.span != 0xFFFF) ++step.span;
}

// Whether nobody comes for the line any more: it is in every replay what it was here.
bool PrivateRecorder::is_settled(std::uint32_t stream, const Victim& victim) const {
    const Line line = victim.step.line;
    return victim.state != invalid && written_[line] <= victim.write && sharing_[line] == ordered &&
           shared_.is_settled_by_writes(line, stream);
}

// Takes the steps of settled victims out, in favour of the tallies after them.
void PrivateRecorder::tally_settled(std::uint32_t stream) {
    Track& track = tracks_[stream];
    std::vector<Step>& steps = track.plan.steps;
    std::size_t tallied = steps.size();
    while (tallied > 0 && steps[tallied - 1].kind != kind_tally) --tallied;
    std::erase_if(track.told, [&](const Victim& victim) {
        return victim.at >= tallied || !is_settled(stream, victim);
    });
    for (const Victim& victim : track.told)
        if (victim.state == shared) count_as_came(track, victim.came_with);
    auto next = track.told.begin();
    Tally pending;
    std::uint64_t gap = 0;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        Step step = steps[i];
        if (next != track.told.end() && next->at == i) {
            ++(is_dirty(next->state) ? pending.modified_l1_victims : pending.clean_l1_victims);
            ++next;
            gap += step.gap;
            continue;
        }
        if (step.gap + gap > most_gap) steps[kept++] = pause_of(std::exchange(gap, 0));
        step.gap += static_cast<std::uint32_t>(std::exchange(gap, 0));
        if (step.kind == kind_tally) {
            tallies_[step.line].clean_l1_victims += pending.clean_l1_victims;
            tallies_[step.line].modified_l1_victims += pending.modified_l1_victims;
            pending = {};
        }
        steps[kept++] = step;
    }
    steps.resize(kept);
}

}  // namespace autofinity::sim
