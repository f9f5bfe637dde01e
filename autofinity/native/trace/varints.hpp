// Numbers of variable length in a file (LEB128), read without trust.
#pragma once

#include <cstdint>
#include <string>

#include "trace/reading.hpp"

namespace autofinity::trace {

class Varints {
  public:
    // Reads the numbers in [at, end) of the file.
    Varints(const File& file, std::size_t at, std::size_t end) : file_(file), at_(at), end_(end) {}

    std::uint64_t number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            if (at_ == end_) fail("the list ends in the middle of a number");
            const std::uint64_t byte = file_.bytes[at_++];
            if (shift == 63 && byte > 1) fail("no number is coded like this");
            value |= (byte & 0x7f) << shift;
            if (byte < 0x80) return value;
        }
    }

    std::uint64_t at_most(std::uint64_t most) {
        const std::uint64_t value = number();
        if (value > most) fail("a number is too large");
        return value;
    }

    // The next number as a signed difference.
    std::uint64_t signed_number() { return af_unzigzag(number()); }

    // Number of the following entries, which have at least `bytes` bytes each.
    std::uint64_t count(std::size_t bytes) {
        const std::uint64_t value = number();
        if (value > (end_ - at_) / bytes) fail("more entries are promised than there are bytes");
        return value;
    }

    void end() const {
        if (at_ != end_) fail("something follows the last entry");
    }

    [[noreturn]] void fail(const std::string& reason) const { file_.fail(at_, reason); }

  private:
    const File& file_;
    std::size_t at_, end_;
};

}  // namespace autofinity::trace
