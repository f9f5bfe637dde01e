// Walking the set bits of a bitmap of cores or LLC domains.
#pragma once

#include <bit>
#include <cstdint>

namespace autofinity::sim {

template <typename Visit>
[[gnu::always_inline]] inline void each_bit(std::uint64_t bits, Visit&& visit) {
    for (; bits != 0; bits &= bits - 1) visit(static_cast<std::uint32_t>(std::countr_zero(bits)));
}

}  // namespace autofinity::sim
