// Lines that other cores took from a core while a private stage is derived.
//
// What comes first, the core's own eviction or another core's write, is up to the distances, and
// those of a derivation are the shortest. So that a replay in which the eviction comes first finds
// it, the stage tells when lines would have left that were taken before. In an L2 they keep their
// places, as invalid words, and age as all others: what comes of the places that are free meanwhile
// the replay finds out (l2_holes.hpp). In an L1, of which less is told, what is free is filled, and
// a line that was taken ages as if it alone had stayed.
#pragma once

#include <cstddef>
#include <cstdint>
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
    // What becomes of a tag that the L1 gives up: the line would still be there (later); or it
    // would have gone by now, which was told; or it has come back, into the L2.
    enum class Tag : std::uint8_t { later, gone, back };
    Tag forget_tag(Line line) {
        std::vector<Taken>& set = of_l1_[l1_.number(line)];
        for (std::size_t i = 0; i < set.size(); ++i) {
            if (set[i].line != line) continue;
            if (set[i].newer < l1_.ways()) {
                set[i].tag = TagOf::forgotten;
                forgotten_.push_back(line);
                return Tag::later;
            }
            set[i] = set.back();
            set.pop_back();
            return Tag::gone;
        }
        return Tag::back;
    }
    // Calls `give_up(line)` for each that was forgotten since the last call and would still be
    // there.
    template <typename GiveUp>
    void give_up_forgotten(GiveUp&& give_up) {
        for (const Line line : forgotten_)
            for (Taken& taken : of_l1_[l1_.number(line)])
                if (taken.line == line && taken.tag == TagOf::forgotten) {
                    taken.tag = TagOf::told;
                    give_up(line);
                }
        forgotten_.clear();
    }
    // Of the L1: it has it still, or nobody took it; or gave it up before it would have given the
    // line up, which `give_up` has told or not.
    enum class TagOf : std::uint8_t { there, forgotten, told };
    // The line is in the L2 again, or comes there.
    void into_l2(Line line, std::uint32_t physical) {
        std::erase_if(not_sent_[l2_.number(physical)],
                      [line](const Taken& taken) { return taken.line == line; });
    }
    // The thread asks for it again. Returns what has become of the tag.
    TagOf asked_for(Line line) {
        TagOf tag = TagOf::there;
        std::erase_if(of_l1_[l1_.number(line)], [&](const Taken& taken) {
            if (taken.line == line) tag = taken.tag;
            return taken.line == line;
        });
        return tag;
    }

    // Visits those of the line's L1 set that were forgotten, and that `newer` others or more have
    // come before.
    template <typename Visit>
    void each_forgotten(Line line, std::uint32_t newer, Visit&& visit) const {
        for (const Taken& taken : of_l1_[l1_.number(line)])
            if (taken.tag != TagOf::there && taken.newer >= newer) visit(taken.line);
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
            if (taken.tag == TagOf::there) continue;
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
        TagOf tag = TagOf::there;
    };

    const Sets &l1_, &l2_;
    std::vector<std::vector<Taken>> of_l1_, not_sent_;
    std::vector<Line> forgotten_;  // perhaps
};

}  // namespace autofinity::sim
