// What is known of a stream before its private stage is told: its steps in the program. What of
// them is in the stage is told as a decision for each, with the odds that its line's past gives;
// and lines that leave the core by their age among those of their L2 set.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "machine.hpp"
#include "pages.hpp"
#include "private_stage.hpp"
#include "program.hpp"
#include "range_coder.hpp"
#include "sets.hpp"
#include "shared_lines.hpp"
#include "zeroed.hpp"

namespace autofinity::sim {

// When a stream touched its lines, and which accesses to them were kept.
class Past {
  public:
    // Both must outlive it.
    Past(std::uint32_t lines, const SharedLines& shared)
        : shared_(shared),
          lines_(lines),
          ahead_(lines >> page_shift),
          trains_(lines >> page_shift) {}

    // Which odds apply to an access that comes next.
    std::uint32_t context(const Step& step) const {
        const OfLine& line = lines_[step.line];
        return ((since(step.line) << 2 | (line.kept & 3u)) << 1 | (line.stretch == stretch_)) << 3 |
               std::uint32_t{step.writes != 0} << 2 | std::uint32_t{shared_.has(step.line)} << 1 |
               latest_kept_;
    }
    // How long ago the line was touched: the number of bits of the accesses since.
    std::uint32_t since(Line line) const {
        const std::uint32_t touched = lines_[line].touched;
        return touched == 0 ? times - 1
                            : std::min(static_cast<std::uint32_t>(std::bit_width(now_ - touched)),
                                       times - 2);
    }
    static constexpr std::uint32_t times = 32, contexts = times << 6;

    void touch(const Step& step, bool kept) {
        OfLine& line = lines_[step.line];
        line.touched = ++now_;
        line.stretch = stretch_;
        line.kept = static_cast<std::uint8_t>(line.kept << 1 | kept);
        latest_kept_ = kept;
    }
    void synchronise() { ++stretch_; }
    std::uint32_t touched(Line line) const { return lines_[line].touched; }
    std::uint32_t now() const { return now_; }

    // Whether the latest access to the line's page that was kept trains the replay's prefetcher.
    bool trains(Line line) const { return trains_[line >> page_shift] != 0; }
    void set_trains(Line line, bool trains) { trains_[line >> page_shift] = trains; }

    // A prefetcher goes on where it was in the page, if that is not far from what was asked for.
    void fetch_ahead(Line line) {
        ahead_[line >> page_shift] = static_cast<std::uint8_t>(line % lines_per_page + 1);
    }
    bool fetched_ahead(Line asked) const {
        const std::uint32_t latest = ahead_[asked >> page_shift];
        return latest != 0 && latest + farthest_ahead >= asked % lines_per_page + 1 &&
               latest <= asked % lines_per_page + 1 + farthest_ahead;
    }
    // Where it was, or else what was asked for.
    Line ahead(Line asked) const {
        return fetched_ahead(asked)
                   ? (asked & ~(lines_per_page - 1)) | (ahead_[asked >> page_shift] - 1u)
                   : asked;
    }

  private:
    static constexpr std::uint32_t farthest_ahead = 16;

    struct OfLine {
        std::uint32_t touched = 0, stretch = 0;
        std::uint8_t kept = 0;
    };
    const SharedLines& shared_;
    Zeroed<OfLine> lines_;
    Zeroed<std::uint8_t> ahead_;  // of each page, the latest line fetched ahead, + 1
    Zeroed<std::uint8_t> trains_;
    std::uint32_t now_ = 0, stretch_ = 1;
    bool latest_kept_ = false;
};

// Lines that a stream's core may hold, in groups: the sets of its L2, or, where what leaves an L1
// makes room in another set of the L2, all sets that the L1's may be.
class HeldLines {
  public:
    HeldLines(const Machine& machine, const Program& program, std::uint64_t seed)
        : first_of_simulator_(program.first_lock_line),
          pages_(program, machine, {}, seed),
          group_of_(groups_of(machine.classes.at(0).side)),
          most_(most_of(machine.classes.at(0).side)),
          groups_(group_of_.sets()) {}

    void clear() {
        for (auto& group : groups_) group.clear();
    }
    void add(Line line, const Past& past) {
        Group& group = groups_[index_of(line)];
        if (const auto at = find(group, line); at != group.end()) {
            group.erase(at);
        } else if (group.size() == most_) {
            settle(group, 0, past);
            group.erase(group.begin());
        }
        group.push_back({line, past.now()});
    }
    void remove(Line line) {
        Group& group = groups_[index_of(line)];
        if (const auto at = find(group, line); at != group.end()) group.erase(at);
    }
    // How many lines of the group of `beside` are older than the line; `unknown` if it is in
    // another or none.
    std::uint32_t age_of(Line line, Line beside, const Past& past) {
        Group& group = groups_[index_of(beside)];
        if (find(group, line) == group.end()) return unknown;
        std::uint32_t age = 0;
        while (settle(group, age, past) != line) ++age;
        return age;
    }
    // The line of that age in the group of `beside`, or 0.
    Line of_age(Line beside, std::uint32_t age, const Past& past) {
        Group& group = groups_[index_of(beside)];
        if (age >= group.size()) return 0;
        for (std::uint32_t younger = 0; younger < age; ++younger) settle(group, younger, past);
        return settle(group, age, past);
    }

    static constexpr std::uint32_t unknown = ~std::uint32_t{0};

  private:
    struct Held {
        Line line;
        std::uint32_t since;
    };
    // Oldest first, as far as is known: what has been touched since is found out when it comes to
    // be the oldest, which most lines do once.
    using Group = std::vector<Held>;

    static std::uint32_t groups_of(const PrivateSide& side) {
        return side.l2_exclusive ? std::min(side.l2.sets, lines_per_page) : side.l2.sets;
    }
    static std::size_t most_of(const PrivateSide& side) {
        const std::uint32_t l2 = side.l2.sets * side.l2.ways, l1 = side.l1.sets * side.l1.ways;
        return 2 * (std::size_t{l2} + l1) / groups_of(side) + 1;
    }
    static Group::iterator find(Group& group, Line line) {
        return std::find_if(group.begin(), group.end(),
                            [line](const Held& held) { return held.line == line; });
    }
    // Locks, barriers and page tables have no address, and a place as good as any; no line none.
    std::uint32_t index_of(Line line) {
        const std::uint32_t page = line >> page_shift;
        if (page == 0 || line >= first_of_simulator_ || group_of_.sets() <= lines_per_page)
            return group_of_(line);
        if (!pages_.mapped(page)) pages_.map(page, 0);
        return group_of_(pages_.physical(line));
    }
    // The line that is at `place`, all older ones being settled.
    static Line settle(Group& group, std::size_t place, const Past& past) {
        const auto at = group.begin() + static_cast<std::ptrdiff_t>(place);
        for (;;) {
            const std::uint32_t touched = past.touched(at->line);
            if (touched <= at->since) return at->line;
            at->since = touched;
            const auto younger = std::upper_bound(
                at + 1, group.end(), touched,
                [](std::uint32_t time, const Held& held) { return time < held.since; });
            std::rotate(at, at + 1, younger);
        }
    }

    const Line first_of_simulator_;
    Pages pages_;
    SetIndex group_of_;
    std::size_t most_;
    std::vector<Group> groups_;
};

// Lines that others may take, as an L1 would give them up that nobody takes anything from.
class ExpectedVictims {
  public:
    ExpectedVictims(const Machine& machine, const SharedLines& shared, std::uint32_t stream)
        : shared_(shared),
          stream_(stream),
          l1_(machine.classes.at(0).side.l1.sets, machine.classes.at(0).side.l1.ways) {}

    void touch(Line line) {
        Word* set = l1_.at(line);
        if (const int way = l1_.find(set, line); way >= 0) return l1_.to_front(set, way, set[way]);
        const Word out = l1_.insert(set, word_of(line, exclusive));
        if (out == 0 || !shared_.is_up_to_others(line_of(out), stream_)) return;
        if (expected_.size() == most) expected_.erase(expected_.begin());
        expected_.push_back(line_of(out));
    }
    // Which odds apply to one that is told now.
    static constexpr std::uint32_t contexts = 4;
    std::uint32_t expected() const {
        return std::min(static_cast<std::uint32_t>(expected_.size()), contexts - 1);
    }
    // From 1; 0 if it is not expected.
    std::uint32_t place_of(Line line) const {
        const auto at = std::find(expected_.begin(), expected_.end(), line);
        return at == expected_.end() ? 0 : static_cast<std::uint32_t>(at - expected_.begin()) + 1;
    }
    // The line at that place, which is over, as what was expected before; 0: none.
    Line take(std::uint32_t place) {
        if (place > expected_.size()) return 0;
        const Line line = expected_[place - 1];
        expected_.erase(expected_.begin(), expected_.begin() + place);
        return line;
    }

  private:
    static constexpr std::size_t most = 64;

    const SharedLines& shared_;
    const std::uint32_t stream_;
    L1Sets l1_;
    std::vector<Line> expected_;  // earliest first
};

}  // namespace autofinity::sim
