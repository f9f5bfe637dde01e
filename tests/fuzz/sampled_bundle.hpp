// A sampled trace as a bundle: index, streams, snapshots of each stream, pages, windows (bundle.hpp
// says how files are strung together).
#pragma once

#include "bundle.hpp"

namespace autofinity::fuzz {

const std::string& hold_sampled(Folder& folder, const Bundle& bundle);

// As `seal`, and checksums and sizes of what sampled traces have besides.
void seal_sampled(Bundle& bundle);

}  // namespace autofinity::fuzz
