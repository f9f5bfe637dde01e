// A word of a set: line << 3 | state. Line 0 is never used, so that 0 is an empty way.
#pragma once

#include <cstdint>

namespace autofinity::sim {

using Line = std::uint32_t;
using Word = std::uint32_t;

enum State : Word { invalid = 0, shared = 1, exclusive = 2, owned = 3, modified = 4 };

inline constexpr Word state_mask = 7;
inline constexpr Word line_shift = 3;
inline constexpr Word word_of(Line line, Word state) { return line << line_shift | state; }
inline constexpr Line line_of(Word word) { return word >> line_shift; }
inline constexpr Word state_of(Word word) { return word & state_mask; }
// Bits of the states in which a core may read or write its line.
inline constexpr Word states_to_write = 1u << exclusive | 1u << modified;
inline constexpr Word states_to_read = states_to_write | 1u << shared | 1u << owned;
inline constexpr bool is_dirty(Word state) { return state >= owned; }

}  // namespace autofinity::sim
