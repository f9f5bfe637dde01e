// Hash table of memory blocks with the last threads that touched them: SPCD, and kMAF'16 section
// 4.3.2 with its figure 3.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "detect/last_threads.hpp"

namespace autofinity::detect {

class BlockTable {
  public:
    // `entries`: a power of two. `sharers`: 1 to most_sharers.
    BlockTable(std::uint32_t entries, std::uint32_t sharers)
        : shift_(64 - std::countr_zero(entries)),
          sharers_(sharers),
          block_plus_one_(zeros<std::uint64_t>(entries)),
          last_(zeros<Thread>(std::size_t{entries} * sharers)) {}

    // Records that a thread was seen at a block (address / block size). Another block that hashes
    // to the same entry is overwritten. When the latest thread is seen again, nothing shifts and
    // nothing counts.
    void touch(std::uint64_t block, Thread thread, SharingCounts& counts) {
        const std::size_t at = index(block);
        const std::span<Thread> last(last_.get() + at * sharers_, sharers_);
        if (block_plus_one_[at] != block + 1) {
            taken_ += block_plus_one_[at] == 0;
            block_plus_one_[at] = block + 1;
            std::fill(last.begin(), last.end(), no_thread);
        }
        if (last.front() == thread) return;
        count_with(last, thread, counts);
        enter(last, thread);
    }

    // Entries that have been taken by a block.
    std::size_t size() const { return taken_; }
    // The last threads, latest first; no_thread where there are fewer.
    std::vector<Thread> threads_at(std::uint64_t block) const {
        const std::size_t at = index(block);
        std::vector<Thread> found(sharers_, no_thread);
        if (block_plus_one_[at] == block + 1)
            std::copy_n(last_.get() + at * sharers_, sharers_, found.begin());
        return found;
    }

  private:
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    template <typename T>
    using Array = std::unique_ptr<T[], Free>;

    // An array that takes memory only where it is touched, which matters beside a running program.
    template <typename T>
    static Array<T> zeros(std::size_t size) {
        Array<T> made(static_cast<T*>(std::calloc(size, sizeof(T))));
        if (!made) throw std::bad_alloc();
        return made;
    }

    // Multiplicative hashing with the golden ratio (Knuth), as Linux's hash_64 does.
    std::size_t index(std::uint64_t block) const {
        return shift_ == 64 ? 0 : (block * 0x61C8864680B583EBu) >> shift_;
    }

    int shift_;
    std::uint32_t sharers_;
    std::size_t taken_ = 0;
    Array<std::uint64_t> block_plus_one_;
    Array<Thread> last_;  // of a block that was touched
};

}  // namespace autofinity::detect
