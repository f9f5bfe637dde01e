// Lines that other cores took from a core while a private stage is derived.
//
// What comes first, the core's own eviction or another core's write, is up to the distances, and
// those of a derivation are the shortest. So that a replay in which the eviction comes first finds
// it, the stage tells when lines would have left that were taken before. In an L2 they keep their
// places, as invalid words, and age as all others: what comes of the places that are free meanwhile
// the replay finds out (l2_holes.hpp). In an L1, of which less is told, what is free is filled, and
// a line that was taken ages as if it alone had stayed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "sets.hpp"

namespace autofinity::sim {

// Of one core, while a stage is derived. Each line ages as if it alone had stayed, but for hits of
// the L1, of which nobody tells. `physical` is the index of a line's L2 set, `way` its place in the
// order of a set, the most recent being 0.
class TakenLines {
  public:
    TakenLines(const Sets& l1, const Sets& l2)
        : l1_(l1), l2_(l2), of_l1_(l1.sets()), not_sent_(l2.sets()) {}

    // Another core has taken the line from the L1.
    void from_l1(Line line, int way) {
        of_l1_[l1_.number(line)].push_back({line, static_cast<std::uint32_t>(way)});
    }
    // A prefetch of the line was not sent, for want of a buffer. In a replay it may be: the line
    // ages as if it alone had come into its L2 set.
    void not_sent(Line line, std::uint32_t physical) {
        std::vector<Taken>& set = not_sent_[l2_.number(physical)];
        std::erase_if(set, [line](const Taken& taken) { return taken.line == line; });
        set.push_back({line, 0});
    }
    // Something has come into the L1 in the place of the line's tag.
    void lose_tag(Line line) {
        std::vector<Taken>& set = of_l1_[l1_.number(line)];
        const auto at = std::find_if(set.begin(), set.end(),
                                     [line](const Taken& taken) { return taken.line == line; });
        if (at == set.end()) return;
        if (at->newer == l1_.ways()) {  // it would have gone by now, as was told
            set.erase(at);
            return;
        }
        at->tag_lost = true;
        lost_tags_.push_back(line);
    }
    // Visits the lines that have lost their tags since the last call and would still be there.
    template <typename Visit>
    void each_lost_tag(Visit&& visit) {
        for (const Line line : std::exchange(lost_tags_, {}))
            for (const Taken& taken : of_l1_[l1_.number(line)])
                if (taken.line == line && taken.tag_lost) visit(line);
    }
    // Those of the line's L1 set that `newer` others or more have come before.
    template <typename Visit>
    void each_lost_tag(Line line, std::uint32_t newer, Visit&& visit) const {
        for (const Taken& taken : of_l1_[l1_.number(line)])
            if (taken.tag_lost && taken.newer >= newer) visit(taken.line);
    }
    // The line comes into the L2.
    void into_l2(Line line, std::uint32_t physical) {
        std::erase_if(not_sent_[l2_.number(physical)],
                      [line](const Taken& taken) { return taken.line == line; });
    }
    // The thread asks for it again. Returns whether it would still be in the L1, which has lost
    // the tag.
    bool asked_for(Line line) {
        bool tag_lost = false;
        std::erase_if(of_l1_[l1_.number(line)], [&](const Taken& taken) {
            if (taken.line == line) tag_lost = taken.tag_lost;
            return taken.line == line;
        });
        return tag_lost;
    }

    // The line has come to the front of its L1 set; what was at `way` has moved or gone. Calls
    // `leave(line)` for each that would have gone.
    template <typename Leave>
    void front_of_l1(Line line, int way, Leave&& leave) {
        std::vector<Taken>& set = of_l1_[l1_.number(line)];
        for (std::size_t i = 0; i < set.size(); ++i) {
            Taken& taken = set[i];
            if (taken.newer == l1_.ways() || taken.newer > static_cast<std::uint32_t>(way) ||
                ++taken.newer < l1_.ways())
                continue;
            leave(taken.line);
            if (!taken.tag_lost) continue;
            taken = set.back();
            set.pop_back();
            --i;
        }
    }
    // The same in the L2; calls `leave(line)` for each that would have left.
    template <typename Leave>
    void front_of_l2(std::uint32_t physical, int way, Leave&& leave) {
        std::vector<Taken>& set = not_sent_[l2_.number(physical)];
        for (std::size_t i = 0; i < set.size();) {
            if (set[i].newer > static_cast<std::uint32_t>(way) || ++set[i].newer < l2_.ways()) {
                ++i;
                continue;
            }
            leave(set[i].line);
            set[i] = set.back();
            set.pop_back();
        }
    }
    // What was at `way` of the L2 set is gone; it may have moved to the L1.
    void out_of_l2(std::uint32_t physical, int way) {
        for (Taken& taken : not_sent_[l2_.number(physical)])
            if (taken.newer > static_cast<std::uint32_t>(way)) --taken.newer;
    }

  private:
    struct Taken {
        Line line;
        std::uint32_t newer;  // lines of its set that were used since
        bool tag_lost = false;
    };

    const Sets &l1_, &l2_;
    std::vector<std::vector<Taken>> of_l1_, not_sent_;
    std::vector<Line> lost_tags_;  // perhaps
};

}  // namespace autofinity::sim
