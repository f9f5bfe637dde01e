#pragma once

namespace autofinity::mapping {

// A gain below this share, of a cost or of all sharing, is rounding.
inline constexpr double rounding = 1e-12;

}  // namespace autofinity::mapping
