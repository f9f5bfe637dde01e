#include "lasting_touches.hpp"

#include <algorithm>
#include <memory>

#include "sim/memory/host_cache.hpp"
#include "sim/memory/sets.hpp"
#include "sim/memory/zeroed.hpp"

namespace autofinity::sim {
namespace {

// Lines come to an L2 that excludes its L1 when the L1 loses them, somewhat out of the order in
// which they were touched: more lines are brought in than stay, so that the sets themselves decide.
// The rest leaves the L2 for the LLC, which needs no such surplus of its own.
constexpr double beyond_l2_ways = 1.5;
// Touches are in no order of addresses, so what is known of their lines is fetched this many
// touches ahead: waits for the host's memory were three quarters of the time that this file takes.
constexpr std::size_t touches_ahead = 16;

// Lines that have come to each set of an array, up to `beyond` times the number of its ways.
class FillingSets {
  public:
    FillingSets(CacheShape shape, double beyond)
        : index_(std::max(shape.sets, 1u)),
          ways_(static_cast<std::uint32_t>(shape.ways * beyond)),
          lines_(std::max(shape.sets, 1u)) {}

    bool has_room(std::uint32_t place) const { return lines_[index_(place)] < ways_; }
    void add(std::uint32_t place) { ++lines_[index_(place)]; }

    // For arrays of what has come: the number of lines in a set, the place of its first, and the
    // number of places.
    std::uint32_t lines(std::uint32_t place) const { return lines_[index_(place)]; }
    std::size_t first(std::uint32_t place) const { return index_(place) * ways_; }
    std::size_t most() const { return lines_.size() * ways_; }

    void prefetch(std::uint32_t place) const { bring_near(&lines_[index_(place)]); }

  private:
    SetIndex index_;
    std::uint32_t ways_;
    std::vector<std::uint8_t> lines_;  // of each set
};

// A set of numbers below a limit.
class Seen {
  public:
    explicit Seen(std::uint32_t limit) : words_(limit / 64 + 1) {}

    // Returns whether the number is new.
    bool add(std::uint32_t number) {
        std::uint64_t& word = words_[number / 64];
        const std::uint64_t bit = std::uint64_t{1} << number % 64;
        const bool added = (word & bit) == 0;
        word |= bit;
        return added;
    }
    bool has(std::uint32_t number) const { return (words_[number / 64] >> number % 64 & 1) != 0; }
    void prefetch(std::uint32_t number) const { bring_near(&words_[number / 64]); }

  private:
    Zeroed<std::uint64_t> words_;
};

// Which lines these are.
class NewestLines {
  public:
    NewestLines(CacheShape shape, double beyond) : sets_(shape, beyond), lines_(sets_.most()) {}

    bool has_room(std::uint32_t place) const { return sets_.has_room(place); }
    bool has(Line line, std::uint32_t place) const {
        const Line* const first = lines_.data() + sets_.first(place);  // there may be no sets
        return std::find(first, first + sets_.lines(place), line) != first + sets_.lines(place);
    }
    void prefetch(std::uint32_t place) const { sets_.prefetch(place); }
    void add(Line line, std::uint32_t place) {
        lines_[sets_.first(place) + sets_.lines(place)] = line;
        sets_.add(place);
    }

  private:
    FillingSets sets_;
    std::vector<Line> lines_;
};

// The caches of an L2 domain. An L2 that holds what its L1 does is asked alone.
class CoreSets {
  public:
    explicit CoreSets(const PrivateSide& side)
        : l1_(side.l2_exclusive || side.l2.ways == 0 ? side.l1 : CacheShape{}, 1),
          l2_(side.l2, beyond_l2_ways) {}

    bool has_room(Line line, std::uint32_t place) const {
        return l1_.has_room(line) || l2_.has_room(place);
    }
    void prefetch(std::uint32_t place) const { l2_.prefetch(place); }
    // There is room.
    void add(Line line, std::uint32_t place) {
        if (l1_.has(line, line) || l2_.has(line, place)) return;
        if (l1_.has_room(line))
            l1_.add(line, line);
        else
            l2_.add(line, place);
    }

  private:
    NewestLines l1_, l2_;
};

struct LlcSets {
    LlcSets(CacheShape shape, bool holds_cores, std::uint32_t most_lines)
        : sets(shape, 1), includes(holds_cores), lines(most_lines) {}

    FillingSets sets;
    const bool includes;  // what its cores hold
    Seen lines;           // that are there, or in a core whose lines may be there
};

// The caches that a stream's touches come to.
struct Caches {
    CoreSets* core;
    Seen* pages;        // of its touches
    std::uint32_t llc;  // of its core

    // Returns whether the line of a touch is still there, and if so takes the line in. A line that
    // has a newer touch is there already, and only an older write still matters: it may have left
    // the line dirty, unless the line has been written back since. `of_line`: the LLC that may have
    // the line.
    bool keep(LlcSets& of_line, Line line, std::uint32_t place, bool in_core, bool writes) const {
        const bool is_there = of_line.lines.has(line);
        if (!in_core || (of_line.includes && !is_there)) {
            if (!of_line.sets.has_room(place) || (is_there && !writes)) return false;
            if (!is_there) of_line.sets.add(place);
        }
        if (in_core) core->add(line, place);
        if (!is_there) of_line.lines.add(line);
        return true;
    }
};

// Parts that several streams may share, made once for each number.
template <typename T>
class Numbered {
  public:
    explicit Numbered(std::size_t count) : each_(count) {}

    template <typename... Of>
    T* get(std::uint32_t number, const Of&... of) {
        if (each_[number] == nullptr) each_[number] = std::make_unique<T>(of...);
        return each_[number].get();
    }
    // A part that has been made.
    T* at(std::uint32_t number) const { return each_[number].get(); }

  private:
    std::vector<std::unique_ptr<T>> each_;
};

}  // namespace

std::vector<LastingTouch> lasting_touches(const MachineModel& machine, const Program& program,
                                          const Memory& memory, const Board& board) {
    const auto& topology = machine.topology;
    const auto& l2_of_core = topology.l2_of_core();
    Numbered<CoreSets> cores(*std::ranges::max_element(l2_of_core) + std::size_t{1});
    Numbered<Seen> pages(topology.cores());
    Numbered<LlcSets> llcs(topology.llcs());
    std::vector<Caches> caches;
    for (const Stream& stream : board.streams) {
        const std::uint32_t core = board.pus[stream.pu].core;
        const PrivateSide& side = machine.classes[machine.class_of_core[core]].side;
        const std::uint32_t llc = topology.llc_of_core()[core];
        caches.push_back(
            {cores.get(l2_of_core[core], side), pages.get(core, memory.units().count()), llc});
        for (const std::uint32_t each : memory.llcs_for(llc))
            llcs.get(each, machine.llc, machine.llc_inclusive, program.n_lines);
    }
    const auto llc_of = [&](const Caches& c, Line line) -> LlcSets& {
        return *llcs.at(memory.llc_for(c.llc, line));
    };

    const std::vector<WarmLine>& lines = program.beginning->lines;
    // Lines that a write has taken from everybody else. A line that was taken was in the way of
    // others in its core until then, unless nobody has it any more.
    Seen taken(program.n_lines), gone(program.n_lines);
    std::vector<LastingTouch> lasting;
    const auto foresee = [&](std::size_t i) {
        if (i + 3 * touches_ahead < lines.size())
            memory.bring_page_near(lines[i + 3 * touches_ahead].line());
        if (i + 2 * touches_ahead < lines.size()) {
            const WarmLine& later = lines[i + 2 * touches_ahead];
            taken.prefetch(later.line());
            llc_of(caches[later.stream()], later.line()).lines.prefetch(later.line());
        }
        if (i + touches_ahead < lines.size()) {
            const WarmLine& soon = lines[i + touches_ahead];
            const Caches& c = caches[soon.stream()];
            const std::uint32_t place = memory.physical(soon.line());
            c.core->prefetch(place);
            llc_of(c, soon.line()).sets.prefetch(place);
        }
    };
    for (std::uint32_t i = 0; i < lines.size(); ++i) {
        foresee(i);
        const WarmLine& touch = lines[i];
        const Line line = touch.line();
        const Caches& c = caches[touch.stream()];
        const std::uint32_t place = memory.physical(line);
        const bool in_core = c.core->has_room(line, place);
        const bool was_taken = taken.has(line);
        const bool stays = was_taken
                               ? in_core && !gone.has(line)
                               : c.keep(llc_of(c, line), line, place, in_core, touch.written());
        if (touch.written() && taken.add(line) && !stays) gone.add(line);
        const bool translates = c.pages->add(memory.units().of(line >> page_shift));
        if (stays)
            lasting.emplace_back(i, in_core ? Reach::core : Reach::llc, translates);
        else if (translates)
            lasting.emplace_back(i, Reach::page, true);
    }
    return lasting;
}

}  // namespace autofinity::sim
