// A trace folder as one string of bytes, which is what a fuzzer can mutate.
//
//   variant (1 byte) | size (u32) index.aft | size (u32) stream-0000.aft | size stream-0001.aft | …
//
// The last file takes what is left. The variant says how the replay target sets its machine up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
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
    // The files of a whole trace.
    const std::string& hold(const Bundle& bundle);
    // Under these paths in the folder.
    const std::string& hold(const Bundle& bundle, std::vector<std::string> paths);
    const std::string& path() const { return path_; }

  private:
    void clear();
    std::string path_;
    std::vector<std::string> paths_;  // of what it holds
};

// For seals: fields are copied in and out, since a mutated size leaves nothing aligned.
template <typename T>
bool get(const Bytes& file, std::size_t offset, T& value) {
    if (offset > file.size() || sizeof value > file.size() - offset) return false;
    std::memcpy(&value, file.data() + offset, sizeof value);
    return true;
}

template <typename T>
void put(Bytes& file, std::size_t offset, const T& value) {
    std::memcpy(file.data() + offset, &value, sizeof value);
}

}  // namespace autofinity::fuzz
