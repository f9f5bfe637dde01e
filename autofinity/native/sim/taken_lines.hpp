// Lines that other cores took from a core, and when each would have left it for want of room.
//
// What comes first, the core's own eviction or another core's write, is up to the distances. A
// private stage is derived at the shortest; so that a replay in which the eviction comes first
// finds it, the stage tells of those, too, that the write was ahead of.
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
        : l1_(l1), l2_(l2), of_l1_(l1.sets()), of_l2_(l2.sets()) {}

    // Another core has taken the line. From the L1: of a core whose L2 gets what its L1 gives up.
    void from_l1(Line line, std::uint32_t physical, int way) {
        of_l1_[l1_.number(line)].push_back({line, physical, static_cast<std::uint32_t>(way)});
    }
    void from_l2(Line line, std::uint32_t physical, int way) {
        out_of_l2(physical, way);
        of_l2_[l2_.number(physical)].push_back({line, physical, static_cast<std::uint32_t>(way)});
    }
    // The core fetches it again.
    void fetched(Line line, std::uint32_t physical) {
        const auto is_it = [line](const Taken& taken) { return taken.line == line; };
        std::erase_if(of_l1_[l1_.number(line)], is_it);
        std::erase_if(of_l2_[l2_.number(physical)], is_it);
    }

    // The line has come to the front of its L1 set; what was at `way` has moved or gone.
    void front_of_l1(Line line, int way) {
        age(of_l1_[l1_.number(line)], way, l1_.ways(), [&](const Taken& taken) {
            of_l2_[l2_.number(taken.physical)].push_back({taken.line, taken.physical, 0});
        });
    }
    // The same in the L2; calls `leave(line)` for each that would have left.
    template <typename Leave>
    void front_of_l2(std::uint32_t physical, int way, Leave&& leave) {
        age(of_l2_[l2_.number(physical)], way, l2_.ways(),
            [&](const Taken& taken) { leave(taken.line); });
    }
    // What was at `way` of the L2 set is gone; it may have moved to the L1.
    void out_of_l2(std::uint32_t physical, int way) {
        for (Taken& taken : of_l2_[l2_.number(physical)])
            if (taken.newer > static_cast<std::uint32_t>(way)) --taken.newer;
    }

  private:
    struct Taken {
        Line line;
        std::uint32_t physical;
        std::uint32_t newer;  // lines of its set that were used since
    };

    template <typename Out>
    static void age(std::vector<Taken>& set, int way, std::uint32_t ways, Out&& out) {
        for (std::size_t i = 0; i < set.size();) {
            if (set[i].newer > static_cast<std::uint32_t>(way) || ++set[i].newer < ways) {
                ++i;
                continue;
            }
            const Taken taken = set[i];
            set[i] = set.back();
            set.pop_back();
            out(taken);
        }
    }

    const Sets &l1_, &l2_;
    std::vector<std::vector<Taken>> of_l1_, of_l2_;
};

}  // namespace autofinity::sim
