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
inline int find_way(const Word* set, std::uint32_t padded, Line line) {
    const __m128i want = _mm_set1_epi32(static_cast<int>(line << line_shift));
    const __m128i mask = _mm_set1_epi32(static_cast<int>(~state_mask));
    for (std::uint32_t i = 0; i < padded / 4; ++i) {
        const __m128i lines = _mm_and_si128(four_words(set, i), mask);
        const int hit = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(lines, want)));
        if (hit != 0) return static_cast<int>(4 * i) + std::countr_zero(static_cast<unsigned>(hit));
    }
    return -1;
}

// Makes `way` the most recent one and its word `word`; those before it move one on.
inline void to_front(Word* set, int way, Word word) {
    if (way <= 0) {
        set[0] = word;
        return;
    }
    const auto to = static_cast<std::uint32_t>(way);
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

inline int find_way(const Word* set, std::uint32_t padded, Line line) {
    for (std::uint32_t way = 0; way < padded; ++way)
        if ((set[way] & ~state_mask) == line << line_shift) return static_cast<int>(way);
    return -1;
}

inline void to_front(Word* set, int way, Word word) {
    if (way > 0) std::memmove(set + 1, set, static_cast<std::size_t>(way) * sizeof(Word));
    set[0] = word;
}

inline void close_up(Word* set, std::uint32_t padded, std::uint32_t way) {
    std::memmove(set + way, set + way + 1, (padded - 1 - way) * sizeof(Word));
    set[padded - 1] = 0;
}

#endif

}  // namespace autofinity::sim
