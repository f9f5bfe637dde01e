// A trace folder as one string of bytes, which is what a fuzzer can mutate.
//
//   variant (1 byte) | size (u32) index.aft | size (u32) stream-0000.aft | size stream-0001.aft | …
//
// The last file takes what is left. The variant says how the replay target sets its machine up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace autofinity::fuzz {

using Bytes = std::vector<std::uint8_t>;

struct Bundle {
    std::uint8_t variant = 0;
    std::vector<Bytes> files;  // the index, then the streams in order
};

Bundle unpack(std::span<const std::uint8_t> input);
Bytes pack(const Bundle& bundle);

// Makes checksums, sizes and sums what the rest of the bytes says they should be, as far as there
// is room for them: a mutation then reaches the decoder instead of failing at the first checksum.
void seal(Bundle& bundle);

// The folder that this process writes its bundles into; gone when the process ends.
class Folder {
  public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    const std::string& hold(const Bundle& bundle);

  private:
    void clear();
    std::string path_;
    std::size_t files_ = 0;
};

}  // namespace autofinity::fuzz
