// A large array that starts as zeros and costs memory only where it is touched.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>

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
        bytes_ = (size == 0 ? 1 : size) * sizeof(T);
#if defined(__linux__)
        if (bytes_ >= large) {
            // Random access to tens of megabytes: huge pages save page walks and page faults.
            bytes_ = (bytes_ + huge_page - 1) / huge_page * huge_page;
            void* const at = ::mmap(nullptr, bytes_ + huge_page, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (at == MAP_FAILED) throw std::bad_alloc();
            mapped_ = at;
            const auto address = reinterpret_cast<std::uintptr_t>(at);
            data_ = reinterpret_cast<T*>((address + huge_page - 1) / huge_page * huge_page);
            ::madvise(data_, bytes_, MADV_HUGEPAGE);
            return;
        }
#endif
        data_ = static_cast<T*>(std::calloc(bytes_, 1));
        if (data_ == nullptr) throw std::bad_alloc();
    }
    ~Zeroed() {
#if defined(__linux__)
        if (mapped_ != nullptr) {
            ::munmap(mapped_, bytes_ + huge_page);
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
    static constexpr std::size_t large = 2 * huge_page;

    T* data_ = nullptr;
    void* mapped_ = nullptr;
    std::size_t size_ = 0, bytes_ = 0;
};

}  // namespace autofinity::sim
