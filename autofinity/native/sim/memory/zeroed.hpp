// An array that starts as zeros; a large one costs memory only where it is touched.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

#include "host_cache.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace autofinity::sim {

template <typename T>
class Zeroed {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    Zeroed() = default;
    explicit Zeroed(std::size_t size) : size_(size) {
        const std::size_t bytes = round_up((size == 0 ? 1 : size) * sizeof(T), host_line_bytes);
#if defined(__linux__)
        if (bytes >= worth_huge_pages) {
            // Random access to tens of megabytes: huge pages save page walks and page faults.
            mapped_bytes_ = round_up(bytes, huge_page) + huge_page;
            mapped_ = ::mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (mapped_ == MAP_FAILED) throw std::bad_alloc();
            data_ = reinterpret_cast<T*>(
                round_up(reinterpret_cast<std::uintptr_t>(mapped_), huge_page));
            ::madvise(data_, mapped_bytes_ - huge_page, MADV_HUGEPAGE);
            return;
        }
#endif
        // No set of a cache should span more lines of the host than necessary.
        data_ = static_cast<T*>(std::aligned_alloc(host_line_bytes, bytes));
        if (data_ == nullptr) throw std::bad_alloc();
        std::memset(static_cast<void*>(data_), 0, bytes);
    }
    ~Zeroed() {
#if defined(__linux__)
        if (mapped_ != nullptr) {
            ::munmap(mapped_, mapped_bytes_);
            return;
        }
#endif
        std::free(data_);
    }
    Zeroed(const Zeroed&) = delete;
    Zeroed& operator=(const Zeroed&) = delete;

    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return size_; }

  private:
    static constexpr std::size_t huge_page = std::size_t{2} << 20;
    static constexpr std::size_t worth_huge_pages = huge_page;

    static constexpr std::uintptr_t round_up(std::uintptr_t bytes, std::uintptr_t to) {
        return (bytes + to - 1) / to * to;
    }

    T* data_ = nullptr;
    void* mapped_ = nullptr;
    std::size_t size_ = 0, mapped_bytes_ = 0;
};

}  // namespace autofinity::sim
