// Set-associative arrays with true LRU.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "host_cache.hpp"
#include "ways.hpp"
#include "zeroed.hpp"

namespace autofinity::sim {

// Set number from an index that may exceed the number of sets, which may be no power of two: the
// exact remainder for 32 bits (Lemire, Kaser & Kurz 2019, "Faster remainder by direct
// computation"), which has no branch for a host to take.
class SetIndex {
  public:
    explicit SetIndex(std::uint32_t sets) : sets_(sets), magic_(UINT64_MAX / sets + 1) {}

    [[gnu::always_inline]] std::uint64_t operator()(std::uint32_t index) const {
        const std::uint64_t low = magic_ * index;
        return static_cast<std::uint64_t>((static_cast<unsigned __int128>(low) * sets_) >> 64);
    }
    std::uint32_t sets() const { return static_cast<std::uint32_t>(sets_); }

  private:
    std::uint64_t sets_, magic_;
};

// One cache or TLB array. Empty ways are always at the end of a set. An array without ways finds
// nothing and returns each inserted word (its sets are words that stay empty). A copy is the same
// array: cores that share an L2 have one each.
class alignas(host_line_bytes) Sets {
  public:
    Sets(std::uint32_t sets, std::uint32_t ways)
        : Sets(sets, ways, std::make_shared<Zeroed<Word>>(words_of(sets, ways))) {}

    [[gnu::always_inline]] Word* at(std::uint32_t index) const {
        return words_ + index_(index) * padded_;
    }
    [[gnu::always_inline]] int find(const Word* set, Line line) const {
        return find_way(set, padded_, line);
    }
    std::uint32_t ways() const { return ways_; }
    std::uint32_t padded() const { return static_cast<std::uint32_t>(padded_); }
    std::uint32_t sets() const { return index_.sets(); }

    // Word of the least recent way of a set; 0 for none.
    Word last_of(const Word* set) const { return set[last_]; }
    // Begins to prefetch a set into the host's caches.
    [[gnu::always_inline]] void bring_near(const Word* set) const {
        sim::bring_near(set);
        for (std::uint32_t way = words_of_host_line; way < padded_; way += words_of_host_line)
            sim::bring_near(set + way);
    }

    // Makes `way` the most recent one and its word `word`; those before it move one on.
    [[gnu::always_inline]] void to_front(Word* set, int way, Word word) const {
        sim::to_front(set, padded_, way, word);
    }
    // Inserts a word in front; returns the word that falls out at the end (0: none).
    [[gnu::always_inline]] Word insert(Word* set, Word word) const {
        if (ways_ == 0) return word;
        const Word out = set[last_];
        push_front(set, padded_, ways_, word);
        return out;
    }
    // Removes a word; the later ones close up, so that empty ways stay at the end.
    [[gnu::always_inline]] Word remove(Word* set, int way) const {
        const Word out = set[way];
        close_up(set, padded_, static_cast<std::uint32_t>(way));
        return out;
    }
    // Removes a line, if it is there.
    [[gnu::always_inline]] void take_out(Word* set, Line line) const {
        sim::take_out(set, padded_, line);
    }
    std::span<const Word> words() const { return {words_, std::size_t{sets()} * padded_}; }

  protected:
    // Uses the first part of `kept`.
    Sets(std::uint32_t sets, std::uint32_t ways, std::shared_ptr<Zeroed<Word>> kept)
        : index_(sets),
          padded_(padded_to_four(ways)),
          words_(kept->data()),
          ways_(ways),
          last_(ways == 0 ? 0 : ways - 1),
          kept_(std::move(kept)) {}
    static std::uint32_t padded_to_four(std::uint32_t ways) {
        return ways == 0 ? 4 : (ways + 3) / 4 * 4;
    }
    static std::size_t words_of(std::uint32_t sets, std::uint32_t ways) {
        return std::size_t{sets} * padded_to_four(ways);
    }

  private:
    friend class DirectSets;

    static constexpr std::uint32_t words_of_host_line = host_line_bytes / sizeof(Word);

    SetIndex index_;
    std::size_t padded_;
    Word* words_;
    std::uint32_t ways_;
    std::uint32_t last_;  // way of a set
    std::shared_ptr<Zeroed<Word>> kept_;
};

// Several arrays of one shape side by side: the LLCs of a machine, or the directories of its nodes.
// One description serves all arrays, so that a host has it in its cache, and together they are
// large enough for huge pages of a host, whose TLB is too small for them otherwise.
class ArraysOfSets : public Sets {
  public:
    ArraysOfSets(std::uint32_t count, std::uint32_t sets, std::uint32_t ways)
        : Sets(sets, ways, std::make_shared<Zeroed<Word>>(count * room_of(sets, ways))),
          count_(count),
          room_(room_of(sets, ways)) {}

    std::uint32_t count() const { return count_; }
    [[gnu::always_inline]] Word* at(std::uint32_t array, std::uint32_t index) const {
        return Sets::at(index) + array * room_;
    }
    std::span<const Word> words(std::uint32_t array) const {
        const std::span<const Word> first = Sets::words();
        return {first.data() + array * room_, first.size()};
    }

  private:
    // Words of an array, such that the next array begins with a line of the host.
    static std::size_t room_of(std::uint32_t sets, std::uint32_t ways) {
        constexpr std::size_t line = host_line_bytes / sizeof(Word);
        return (words_of(sets, ways) + line - 1) / line * line;
    }

    std::uint32_t count_;
    std::size_t room_;
};

// An array whose sets are read in nearly every access: an L1 or a first-level TLB. Such sets are
// small, and processed by fours.
class SmallSets : public Sets {
  public:
    using Sets::Sets;

    [[gnu::always_inline]] int find(const Word* set, Line line) const {
        return by_fours::find_way(set, padded(), line);
    }
    // The last way whose state is invalid, empty or not; -1: none.
    [[gnu::always_inline]] int last_invalid(const Word* set) const {
        return by_fours::last_invalid_way(set, ways());
    }
    [[gnu::always_inline]] void to_front(Word* set, int way, Word word) const {
        by_fours::to_front(set, way, word);
    }
};

// Address of the sets of an array whose number is a power of two, as that of an L1 is
// (machine.cpp).
class DirectSets {
  public:
    explicit DirectSets(const Sets& sets)
        : words_(sets.words_), mask_(sets.sets() - 1), padded_(sets.padded_) {}

    Word* at(std::uint32_t index) const { return words_ + (index & mask_) * padded_; }

    // Reads (`if_read` has all bits) or writes (none) a line in a state that allows it: the line
    // becomes the most recent one of its set. Otherwise nothing happens: false. Unchanged words are
    // not stored: a search of the set would have to wait for the store.
    [[gnu::always_inline]] bool use(Line line, Word if_read) const {
        const Word allowed = states_to_write | (states_to_read & if_read);
        const auto after = [&](Word word) {
            return (word & if_read) | (word_of(line, modified) & ~if_read);
        };
        Word* const set = at(line);
        const Word first = set[0];
        if (line_of(first) == line) {
            if ((allowed >> state_of(first) & 1) == 0) return false;
            if (after(first) != first) set[0] = after(first);
            return true;
        }
        const int way = by_fours::find_way(set, padded_, line);
        if (way < 0 || (allowed >> state_of(set[way]) & 1) == 0) return false;
        by_fours::to_front(set, way, after(set[way]));
        return true;
    }

  private:
    Word* words_;
    std::uint32_t mask_;
    std::size_t padded_;
};

// An L1: its index needs no remainder.
class L1Sets : public SmallSets {
  public:
    using SmallSets::SmallSets;

    [[gnu::always_inline]] Word* at(std::uint32_t index) const {
        return DirectSets(*this).at(index);
    }
    Word last(std::uint32_t index) const { return last_of(at(index)); }
};

}  // namespace autofinity::sim
