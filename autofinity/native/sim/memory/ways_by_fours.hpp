// The ways of one set, four at a time.
//
// A set starts at a multiple of 16 bytes and is padded with empty words to a multiple of four, so
// that four words are read and written at once: a host forwards stores to later loads of the same
// bytes only, and a set is often looked at again while its last change is on the way to the cache.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sim/types.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace autofinity::sim::by_fours {

#if defined(__SSE2__)

// Four words of a set, from `at` on.
inline __m128i four_words(const Word* at) {
    return _mm_load_si128(reinterpret_cast<const __m128i*>(at));
}
// Four words from any place, across two fours.
inline __m128i four_words_across(const Word* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}
inline void put_four_words(Word* at, __m128i words) {
    _mm_store_si128(reinterpret_cast<__m128i*>(at), words);
}
inline constexpr Word lanes_on_and_off[] = {~0u, ~0u, ~0u, ~0u, 0, 0, 0, 0};
// The first `lanes` of `changed`, at most four, those of `kept` after them.
inline __m128i first_lanes(std::size_t lanes, __m128i changed, __m128i kept) {
    const __m128i first = four_words_across(lanes_on_and_off + 4 - lanes);
    return _mm_or_si128(_mm_and_si128(first, changed), _mm_andnot_si128(first, kept));
}
// The last lane of `before`, then the first three of `words`.
inline __m128i one_on(__m128i before, __m128i words) {
    const __m128 w = _mm_castsi128_ps(words);
    const __m128 between = _mm_shuffle_ps(_mm_castsi128_ps(before), w, _MM_SHUFFLE(0, 0, 3, 3));
    return _mm_castps_si128(_mm_shuffle_ps(between, w, _MM_SHUFFLE(2, 1, 2, 0)));
}
// The last three lanes of `words`, then the first of `next`.
inline __m128i one_back(__m128i words, __m128i next) {
    const __m128 w = _mm_castsi128_ps(words);
    const __m128 between = _mm_shuffle_ps(w, _mm_castsi128_ps(next), _MM_SHUFFLE(0, 0, 3, 3));
    return _mm_castps_si128(_mm_shuffle_ps(w, between, _MM_SHUFFLE(2, 0, 2, 1)));
}
// `word`, then the first three lanes of `words`.
inline __m128i with_front(Word word, __m128i words) {
    return _mm_or_si128(_mm_slli_si128(words, 4), _mm_cvtsi32_si128(static_cast<int>(word)));
}

// Way of the first word that is `wanted` above its lowest `ignored` bits, or -1. `padded`: at
// least 4.
template <Word ignored = line_shift>
[[gnu::always_inline]] inline int find_way(const Word* set, std::size_t padded, Word wanted) {
    const __m128i want = _mm_set1_epi32(static_cast<int>(wanted));
    const auto equal = [&](std::size_t at) {
        return _mm_cmpeq_epi32(_mm_srli_epi32(four_words(set + at), ignored), want);
    };
    const auto way = [](std::size_t at, int hit) {
        return static_cast<int>(at) + std::countr_zero(static_cast<unsigned>(hit));
    };
    std::size_t at = 0;
    if (padded >= 16) {
        do {
            const __m128i eight = _mm_packs_epi32(equal(at), equal(at + 4));
            const __m128i more = _mm_packs_epi32(equal(at + 8), equal(at + 12));
            const int hit = _mm_movemask_epi8(_mm_packs_epi16(eight, more));
            if (hit != 0) return way(at, hit);
            at += 16;
        } while (padded - at >= 16);
        if (at == padded) return -1;
    }
    do {
        const int hit = _mm_movemask_ps(_mm_castsi128_ps(equal(at)));
        if (hit != 0) return way(at, hit);
        at += 4;
    } while (at != padded);
    return -1;
}

// The last of the first `ways` whose state is invalid, empty or not; -1: none.
[[gnu::always_inline]] inline int last_invalid_way(const Word* set, std::uint32_t ways) {
    const __m128i mask = _mm_set1_epi32(static_cast<int>(state_mask));
    const auto invalid_of = [&](std::uint32_t at) {
        const __m128i states = _mm_and_si128(four_words(set + at), mask);
        const __m128i are_invalid = _mm_cmpeq_epi32(states, _mm_setzero_si128());
        return static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(are_invalid)));
    };
    std::uint32_t at = (ways - 1) & ~3u;
    unsigned hit = invalid_of(at) & ((2u << (ways - 1 - at)) - 1);  // those that count
    while (hit == 0 && at != 0) hit = invalid_of(at -= 4);
    return hit == 0 ? -1 : static_cast<int>(at) + std::bit_width(hit) - 1;
}

// Words of sets with this many ways (of an LLC) are moved by loads across two fours, with fewer
// instructions: a host does not forward stores to such loads, but these sets are seldom read again
// so soon.
inline constexpr std::uint32_t ways_of_wide_set = 32;

// The fours of words before `end` move one place on, except the first, which lacks a word before
// it.
[[gnu::always_inline]] inline void fours_one_on_across(Word* set, Word* end) {
    const auto move = [](Word* at) { put_four_words(at, four_words_across(at - 1)); };
    for (; end - set > 16; end -= 16) {
        move(end - 4);
        move(end - 8);
        move(end - 12);
        move(end - 16);
    }
    for (; end - set > 4; end -= 4) move(end - 4);
}

// Makes `word` the most recent one of a set with this many ways: all words move one place on, and
// the last falls out.
[[gnu::always_inline]] inline void push_front(Word* set, std::uint32_t ways, Word word) {
    if (ways <= 4) {
        const __m128i words = four_words(set);
        put_four_words(set, first_lanes(ways, with_front(word, words), words));
        return;
    }
    const std::uint32_t rest = ways % 4;
    Word* const end = set + (ways - rest);
    if (ways >= ways_of_wide_set) {
        if (rest != 0)
            put_four_words(end, first_lanes(rest, four_words_across(end - 1), four_words(end)));
        fours_one_on_across(set, end);
        put_four_words(set, with_front(word, four_words(set)));
        return;
    }
    __m128i before = four_words(set);
    put_four_words(set, with_front(word, before));
    for (Word* at = set + 4; at != end; at += 4) {
        const __m128i words = four_words(at);
        put_four_words(at, one_on(before, words));
        before = words;
    }
    if (rest == 0) return;
    const __m128i words = four_words(end);
    put_four_words(end, first_lanes(rest, one_on(before, words), words));
}

// Makes `way` the most recent one and its word `word`; those before it move one on.
[[gnu::always_inline]] inline void to_front(Word* set, int way, Word word) {
    if (way <= 0) {
        set[0] = word;
        return;
    }
    push_front(set, static_cast<std::uint32_t>(way) + 1, word);
}

// Removes `way`; the later ones close up.
[[gnu::always_inline]] inline void close_up(Word* set, std::size_t padded, std::uint32_t way) {
    Word* at = set + way / 4 * 4;
    Word* const last = set + padded - 4;
    __m128i words = four_words(at);
    const auto put_first = [&](__m128i closed) {
        put_four_words(at, first_lanes(way % 4, words, closed));
    };
    if (at == last) {
        put_first(_mm_srli_si128(words, 4));
        return;
    }
    if (padded >= ways_of_wide_set) {
        const auto move = [](Word* to) { put_four_words(to, four_words_across(to + 1)); };
        put_first(four_words_across(at + 1));
        for (at += 4; last - at >= 16; at += 16) {
            move(at);
            move(at + 4);
            move(at + 8);
            move(at + 12);
        }
        for (; at != last; at += 4) move(at);
        put_four_words(last, _mm_srli_si128(four_words(last), 4));
        return;
    }
    __m128i next = four_words(at + 4);
    put_first(one_back(words, next));
    for (at += 4; at != last; at += 4) {
        words = next;
        next = four_words(at + 4);
        put_four_words(at, one_back(words, next));
    }
    put_four_words(last, _mm_srli_si128(next, 4));
}

#else

template <Word ignored = line_shift>
[[gnu::always_inline]] inline int find_way(const Word* set, std::size_t padded, Word wanted) {
    for (std::size_t way = 0; way < padded; ++way)
        if (set[way] >> ignored == wanted) return static_cast<int>(way);
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

[[gnu::always_inline]] inline void push_front(Word* set, std::uint32_t ways, Word word) {
    to_front(set, static_cast<int>(ways) - 1, word);
}

inline void close_up(Word* set, std::size_t padded, std::uint32_t way) {
    std::memmove(set + way, set + way + 1, (padded - 1 - way) * sizeof(Word));
    set[padded - 1] = 0;
}

#endif

}  // namespace autofinity::sim::by_fours
