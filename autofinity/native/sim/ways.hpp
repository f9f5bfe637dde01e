// The ways of one set: plain recency-ordered words, way 0 the most recent.
//
// A word is line << 3 | state. Line 0 is never used, so that 0 is an empty way. The order is the
// LRU information: one set of 16 ways is one cache line of the host.
//
// A set starts at a multiple of 16 bytes and is padded with empty words to a multiple of four, so
// that four words are read and written at once: a host forwards stores to later loads of the same
// bytes only, and a set is often looked at again while its last change is on the way to the cache.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

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

#if defined(__SSE2__)

// Four words of a set, from way `4 * i` on.
inline __m128i four_words(const Word* set, std::uint32_t i) {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(set) + i);
}
inline void put_four_words(Word* set, std::uint32_t i, __m128i words) {
    _mm_store_si128(reinterpret_cast<__m128i*>(set) + i, words);
}
// Those of `changed` up to lane `last`, those of `kept` after it.
inline __m128i up_to_lane(std::uint32_t last, __m128i changed, __m128i kept) {
    const __m128i after =
        _mm_cmpgt_epi32(_mm_setr_epi32(0, 1, 2, 3), _mm_set1_epi32(static_cast<int>(last)));
    return _mm_or_si128(_mm_andnot_si128(after, changed), _mm_and_si128(after, kept));
}

// Way of `line`, or -1.
[[gnu::always_inline]] inline int find_way(const Word* set, std::uint32_t padded, Line line) {
    const __m128i want = _mm_set1_epi32(static_cast<int>(line << line_shift));
    const __m128i mask = _mm_set1_epi32(static_cast<int>(~state_mask));
    for (std::uint32_t i = 0; i < padded / 4; ++i) {
        const __m128i lines = _mm_and_si128(four_words(set, i), mask);
        const int hit = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(lines, want)));
        if (hit != 0) return static_cast<int>(4 * i) + std::countr_zero(static_cast<unsigned>(hit));
    }
    return -1;
}

// The last of the first `ways` whose state is invalid, empty or not; -1: none.
[[gnu::always_inline]] inline int last_invalid_way(const Word* set, std::uint32_t ways) {
    const __m128i mask = _mm_set1_epi32(static_cast<int>(state_mask));
    std::uint32_t here = (ways - 1) % 4;  // the last lane of four words that counts
    for (std::uint32_t i = (ways + 3) / 4; i-- > 0; here = 3) {
        const __m128i states = _mm_and_si128(four_words(set, i), mask);
        const __m128i are_invalid = _mm_cmpeq_epi32(states, _mm_setzero_si128());
        const unsigned hit = static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(are_invalid))) &
                             ((2u << here) - 1);
        if (hit != 0) return static_cast<int>(4 * i) + std::bit_width(hit) - 1;
    }
    return -1;
}

// Those `by` words after `i` fours of words, which lie across two of them.
inline __m128i four_words_from(const Word* set, std::uint32_t i, std::ptrdiff_t by) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(set + 4 * i + by));
}
// Words of sets of so many ways (of an LLC) are moved by such loads, with half the instructions: a
// host does not forward stores to them, but these sets are seldom looked at again so soon.
inline constexpr std::uint32_t ways_of_wide_set = 32;

// Makes `way` the most recent one and its word `word`; those before it move one on.
[[gnu::always_inline]] inline void to_front(Word* set, int way, Word word) {
    if (way <= 0) {
        set[0] = word;
        return;
    }
    const auto to = static_cast<std::uint32_t>(way);
    if (to >= ways_of_wide_set) {
        std::uint32_t i = to / 4;
        put_four_words(set, i, up_to_lane(to % 4, four_words_from(set, i, -1), four_words(set, i)));
        while (--i > 0) put_four_words(set, i, four_words_from(set, i, -1));
        const __m128i front = _mm_cvtsi32_si128(static_cast<int>(word));
        put_four_words(set, 0, _mm_or_si128(_mm_slli_si128(four_words(set, 0), 4), front));
        return;
    }
    __m128i before = _mm_cvtsi32_si128(static_cast<int>(word));
    for (std::uint32_t i = 0; i < to / 4; ++i) {
        const __m128i words = four_words(set, i);
        put_four_words(set, i, _mm_or_si128(_mm_slli_si128(words, 4), before));
        before = _mm_srli_si128(words, 12);
    }
    const __m128i words = four_words(set, to / 4);
    put_four_words(set, to / 4,
                   up_to_lane(to % 4, _mm_or_si128(_mm_slli_si128(words, 4), before), words));
}

// Takes `way` out; the later ones close up.
inline void close_up(Word* set, std::uint32_t padded, std::uint32_t way) {
    std::uint32_t i = way / 4;
    __m128i words = four_words(set, i), kept = words;
    std::uint32_t lanes_kept = way % 4;
    if (padded >= ways_of_wide_set && i + 1 < padded / 4) {
        const __m128i closed = four_words_from(set, i, 1);
        put_four_words(set, i, lanes_kept == 0 ? closed : up_to_lane(lanes_kept - 1, kept, closed));
        while (++i + 1 < padded / 4) put_four_words(set, i, four_words_from(set, i, 1));
        put_four_words(set, i, _mm_srli_si128(four_words(set, i), 4));
        return;
    }
    for (;; ++i) {
        const bool more = i + 1 < padded / 4;
        const __m128i next = more ? four_words(set, i + 1) : _mm_setzero_si128();
        const __m128i closed = _mm_or_si128(_mm_srli_si128(words, 4), _mm_slli_si128(next, 12));
        put_four_words(set, i, lanes_kept == 0 ? closed : up_to_lane(lanes_kept - 1, kept, closed));
        if (!more) return;
        lanes_kept = 0;
        words = next;
    }
}

#else

[[gnu::always_inline]] inline int find_way(const Word* set, std::uint32_t padded, Line line) {
    for (std::uint32_t way = 0; way < padded; ++way)
        if ((set[way] & ~state_mask) == line << line_shift) return static_cast<int>(way);
    return -1;
}

[[gnu::always_inline]] inline int last_invalid_way(const Word* set, std::uint32_t ways) {
    int way = static_cast<int>(ways) - 1;
    while (way >= 0 && state_of(set[way]) != invalid) --way;
    return way;
}

[[gnu::always_inline]] inline void to_front(Word* set, int way, Word word) {
    if (way > 0) std::memmove(set + 1, set, static_cast<std::size_t>(way) * sizeof(Word));
    set[0] = word;
}

inline void close_up(Word* set, std::uint32_t padded, std::uint32_t way) {
    std::memmove(set + way, set + way + 1, (padded - 1 - way) * sizeof(Word));
    set[padded - 1] = 0;
}

#endif

}  // namespace autofinity::sim
