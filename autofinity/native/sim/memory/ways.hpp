// The ways of one set: recency-ordered words, way 0 the most recent, so that the order is the LRU
// information. One set of 16 ways is one cache line of the host.
//
// Where the host has registers for 16 words (AVX-512), sets that fill such registers change in them
// as a whole, whatever the way: the host has no branch to predict. By fours, every second search or
// change of a set of 16 to 64 ways ends elsewhere than the one before. Smaller sets are searched
// sooner by fours: the result of a mask takes a few clocks.
#pragma once

#include "ways_by_fours.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace autofinity::sim {

#if defined(__AVX512F__)

inline constexpr std::size_t register_words = 16;

// Whether a set of this many words fills registers. The ways of a set must fit into a word of bits.
inline constexpr bool fills_registers(std::size_t padded) {
    return padded % register_words == 0 && padded <= 64;
}
// Those of `ways` that are in the register from `at` on.
inline __mmask16 in_register(std::uint64_t ways, std::size_t at) {
    return static_cast<__mmask16>(ways >> at);
}
// As _mm512_srli_epi32, for which GCC 12 warns of an uninitialised value.
template <Word by>
inline __m512i shifted_right(__m512i words) {
    constexpr __mmask16 all = 0xFFFF;
    return _mm512_maskz_srli_epi32(all, words, by);
}
inline __m512i all_lanes(Word word) { return _mm512_set1_epi32(static_cast<int>(word)); }

// The same of a set of four ways, in a register of four words.
inline constexpr bool fills_four(std::size_t padded) { return padded == 4; }

// Way of the first word that is `wanted` above its lowest `ignored` bits, or -1.
template <Word ignored = line_shift>
[[gnu::always_inline]] inline int find_way(const Word* set, std::size_t padded, Word wanted) {
    if (!fills_registers(padded)) return by_fours::find_way<ignored>(set, padded, wanted);
    const __m512i want = all_lanes(wanted);
    std::uint64_t found = 0;
    for (std::size_t at = 0; at != padded; at += register_words) {
        const __m512i words = shifted_right<ignored>(_mm512_load_si512(set + at));
        const __mmask16 same = _mm512_cmpeq_epi32_mask(words, want);
        found |= std::uint64_t{same} << at;
    }
    return found == 0 ? -1 : std::countr_zero(found);
}

// Makes `way` the most recent one and its word `word`; those before it move one on.
[[gnu::always_inline]] inline void to_front(Word* set, std::size_t padded, int way, Word word) {
    const std::uint64_t moved = (std::uint64_t{2} << way) - 1;
    if (fills_four(padded)) {
        const __m128i words = by_fours::four_words(set);
        const __m128i front = _mm_set1_epi32(static_cast<int>(word));
        by_fours::put_four_words(
            set, _mm_mask_alignr_epi32(words, static_cast<__mmask8>(moved), words, front, 3));
        return;
    }
    if (!fills_registers(padded)) return by_fours::to_front(set, way, word);
    __m512i before = all_lanes(word);
    for (std::size_t at = 0; at != padded; at += register_words) {
        const __m512i words = _mm512_load_si512(set + at);
        _mm512_store_si512(set + at, _mm512_mask_alignr_epi32(words, in_register(moved, at), words,
                                                              before, register_words - 1));
        before = words;
    }
}

// Makes `word` the most recent one of a set with this many ways: all words move one place on, and
// the last falls out.
[[gnu::always_inline]] inline void push_front(Word* set, std::size_t padded, std::uint32_t ways,
                                              Word word) {
    if (ways != padded || !fills_registers(padded))
        return fills_four(padded) || fills_registers(padded)
                   ? to_front(set, padded, static_cast<int>(ways) - 1, word)
                   : by_fours::push_front(set, ways, word);
    constexpr __mmask16 all = 0xFFFF;
    __m512i before = all_lanes(word);
    for (std::size_t at = 0; at != padded; at += register_words) {
        const __m512i words = _mm512_load_si512(set + at);
        _mm512_store_si512(set + at,
                           _mm512_maskz_alignr_epi32(all, words, before, register_words - 1));
        before = words;
    }
}

// Removes `way`; the later ones close up.
[[gnu::always_inline]] inline void close_up(Word* set, std::size_t padded, std::uint32_t way) {
    if (fills_four(padded)) {
        const auto kept = static_cast<__mmask8>(~(1u << way));
        by_fours::put_four_words(set, _mm_maskz_compress_epi32(kept, by_fours::four_words(set)));
        return;
    }
    if (!fills_registers(padded)) return by_fours::close_up(set, padded, way);
    const std::uint64_t moved = ~std::uint64_t{0} << way;
    __m512i words = _mm512_load_si512(set);
    for (std::size_t at = 0; at != padded; at += register_words) {
        const bool last = at + register_words == padded;
        const __m512i after =
            last ? _mm512_setzero_si512() : _mm512_load_si512(set + at + register_words);
        _mm512_store_si512(
            set + at, _mm512_mask_alignr_epi32(words, in_register(moved, at), after, words, 1));
        words = after;
    }
}

// Removes a line, if it is there; the later ones close up.
[[gnu::always_inline]] inline void take_out(Word* set, std::size_t padded, Line line) {
    if (fills_four(padded)) {
        const __m128i words = by_fours::four_words(set);
        const __m128i lines = _mm_srli_epi32(words, line_shift);
        const __mmask8 kept = _mm_cmpneq_epi32_mask(lines, _mm_set1_epi32(static_cast<int>(line)));
        by_fours::put_four_words(set, _mm_maskz_compress_epi32(kept, words));
        return;
    }
    if (const int way = find_way(set, padded, line); way >= 0)
        close_up(set, padded, static_cast<std::uint32_t>(way));
}

#else

template <Word ignored = line_shift>
[[gnu::always_inline]] inline int find_way(const Word* set, std::size_t padded, Word wanted) {
    return by_fours::find_way<ignored>(set, padded, wanted);
}
[[gnu::always_inline]] inline void to_front(Word* set, std::size_t, int way, Word word) {
    by_fours::to_front(set, way, word);
}
[[gnu::always_inline]] inline void push_front(Word* set, std::size_t, std::uint32_t ways,
                                              Word word) {
    by_fours::push_front(set, ways, word);
}
[[gnu::always_inline]] inline void close_up(Word* set, std::size_t padded, std::uint32_t way) {
    by_fours::close_up(set, padded, way);
}
[[gnu::always_inline]] inline void take_out(Word* set, std::size_t padded, Line line) {
    if (const int way = find_way(set, padded, line); way >= 0)
        close_up(set, padded, static_cast<std::uint32_t>(way));
}

#endif

}  // namespace autofinity::sim
