// Set-associative arrays with true LRU, as plain recency-ordered words: way 0 is the most recent.
//
// A word is line << 3 | state. Line 0 is never used, so that 0 is an empty way. The order is the
// LRU information: one set of 16 ways is one cache line of the host.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "host_cache.hpp"
#include "zeroed.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace autofinity::sim {

using Line = std::uint32_t;
using Word = std::uint32_t;

enum State : Word { invalid = 0, shared = 1, exclusive = 2, owned = 3, modified = 4 };

inline constexpr Word state_mask = 7;
inline constexpr Word line_shift = 3;
inline constexpr Word word_of(Line line, Word state) { return line << line_shift | state; }
inline constexpr Line line_of(Word word) { return word >> line_shift; }
inline constexpr Word state_of(Word word) { return word & state_mask; }
inline constexpr bool is_dirty(Word state) { return state >= owned; }

// Way of `line`, or -1. The words of a set are padded to a multiple of four.
inline int find_way(const Word* set, std::uint32_t padded, Line line) {
    const Word key = line << line_shift;
#if defined(__SSE2__)
    const __m128i want = _mm_set1_epi32(static_cast<int>(key));
    const __m128i mask = _mm_set1_epi32(static_cast<int>(~state_mask));
    for (std::uint32_t way = 0; way < padded; way += 4) {
        const __m128i words =
            _mm_and_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(set + way)), mask);
        const int hit = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(words, want)));
        if (hit != 0) return static_cast<int>(way) + std::countr_zero(static_cast<unsigned>(hit));
    }
#else
    for (std::uint32_t way = 0; way < padded; ++way)
        if ((set[way] & ~state_mask) == key) return static_cast<int>(way);
#endif
    return -1;
}

// Makes `way` the most recent one and its word `word`.
inline void to_front(Word* set, int way, Word word) {
    if (way > 0) std::memmove(set + 1, set, static_cast<std::size_t>(way) * sizeof(Word));
    set[0] = word;
}

// Set number from an index that may exceed the number of sets, which may be no power of two.
class SetIndex {
  public:
    explicit SetIndex(std::uint32_t sets)
        : sets_(sets),
          mask_(std::has_single_bit(sets) ? sets - 1 : 0),
          magic_(UINT64_MAX / sets + 1) {}

    std::uint32_t operator()(std::uint32_t index) const {
        if (mask_ != 0 || sets_ == 1) return index & mask_;
        // Exact remainder for 32 bits (Lemire, Kaser & Kurz 2019, "Faster remainder by direct
        // computation").
        const std::uint64_t low = magic_ * index;
        return static_cast<std::uint32_t>((static_cast<unsigned __int128>(low) * sets_) >> 64);
    }
    std::uint32_t sets() const { return sets_; }

  private:
    std::uint32_t sets_, mask_;
    std::uint64_t magic_;
};

// One cache or TLB array. Empty ways are always at the end of a set. An array of no ways finds
// nothing and hands back what is put in. A copy is the same array: cores that share an L2 have one
// each.
class Sets {
  public:
    Sets(std::uint32_t sets, std::uint32_t ways)
        : index_(sets),
          ways_(ways),
          padded_((ways + 3) / 4 * 4),
          kept_(std::make_shared<Zeroed<Word>>(std::size_t{sets} * padded_)),
          words_(kept_->data()) {}

    Word* at(std::uint32_t index) { return words_ + std::size_t{index_(index)} * padded_; }
    int find(const Word* set, Line line) const { return find_way(set, padded_, line); }
    std::uint32_t ways() const { return ways_; }
    std::uint32_t padded() const { return padded_; }
    std::uint32_t sets() const { return index_.sets(); }
    bool full(const Word* set) const { return ways_ == 0 || set[ways_ - 1] != 0; }

    // Word of the least recent way of a set; 0 for none.
    Word last(std::uint32_t index) const {
        return ways_ == 0 ? 0 : words_[std::size_t{index_(index)} * padded_ + ways_ - 1];
    }
    // Begins to bring a set into the host's caches.
    void bring_near(std::uint32_t index) const {
        const Word* set = words_ + std::size_t{index_(index)} * padded_;
        for (std::uint32_t way = 0; way < padded_; way += words_of_host_line)
            sim::bring_near(set + way);
    }

    // Puts a word in front; returns what fell out at the end (0: nothing).
    Word insert(Word* set, Word word) const {
        if (ways_ == 0) return word;
        const Word out = set[ways_ - 1];
        std::memmove(set + 1, set, (ways_ - 1) * sizeof(Word));
        set[0] = word;
        return out;
    }
    // Takes a word out; the later ones close up, so that empty ways stay at the end.
    Word remove(Word* set, int way) const {
        const Word out = set[way];
        std::memmove(set + way, set + way + 1,
                     (ways_ - 1 - static_cast<std::uint32_t>(way)) * sizeof(Word));
        set[ways_ - 1] = 0;
        return out;
    }
    std::span<const Word> words() const { return {words_, kept_->size()}; }

  private:
    static constexpr std::uint32_t words_of_host_line = host_line_bytes / sizeof(Word);

    SetIndex index_;
    std::uint32_t ways_, padded_;
    std::shared_ptr<Zeroed<Word>> kept_;
    Word* words_;
};

}  // namespace autofinity::sim
