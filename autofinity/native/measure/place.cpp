#include "measure/place.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <thread>

namespace autofinity::measure {

namespace {

constexpr std::size_t large_page_bytes = std::size_t{2} << 20;
constexpr int most_nodes = 1024;

// The two constants of <numaif.h>, which is not installed everywhere.
constexpr int policy_bind = 2;
constexpr unsigned strictly = 1;

std::string reason() { return std::strerror(errno); }

void bind_to(void* data, std::size_t bytes, int node) {
    constexpr int bits = 8 * sizeof(unsigned long);
    std::array<unsigned long, most_nodes / bits> mask{};
    if (node >= most_nodes) throw PlaceError("node " + std::to_string(node) + " is above 1023");
    mask[static_cast<std::size_t>(node / bits)] = 1ul << (node % bits);
    if (syscall(SYS_mbind, data, bytes, policy_bind, mask.data(), most_nodes + 1, strictly) != 0)
        throw PlaceError("memory cannot be bound to node " + std::to_string(node) + ": " +
                         reason());
}

}  // namespace

Buffer::Buffer(std::size_t bytes, int node, Pages pages)
    : bytes_((bytes + large_page_bytes - 1) / large_page_bytes * large_page_bytes) {
    // Room to start at a large page.
    void* all = mmap(nullptr, bytes_ + large_page_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        throw PlaceError(std::to_string(bytes_ >> 20) + " MiB of memory: " + reason());
    auto* first = static_cast<std::byte*>(all);
    const std::size_t before =
        (large_page_bytes - reinterpret_cast<std::uintptr_t>(first) % large_page_bytes) %
        large_page_bytes;
    if (before > 0) munmap(first, before);
    data_ = first + before;
    munmap(data_ + bytes_, large_page_bytes - before);
    // A kernel without large pages refuses the advice; the measurement then has small ones.
    madvise(data_, bytes_, pages == Pages::large ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    try {
        if (node != any_node) bind_to(data_, bytes_, node);
    } catch (...) {
        munmap(data_, bytes_);
        throw;
    }
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (std::size_t at = 0; at < bytes_; at += page) data_[at] = std::byte{1};
}

Buffer::~Buffer() { munmap(data_, bytes_); }

void pin(int cpu) {
    const auto release = [](cpu_set_t* set) { CPU_FREE(set); };
    std::unique_ptr<cpu_set_t, decltype(release)> set(CPU_ALLOC(cpu + 1), release);
    const std::size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
    CPU_ZERO_S(bytes, set.get());
    CPU_SET_S(cpu, bytes, set.get());
    if (sched_setaffinity(0, bytes, set.get()) != 0)
        throw PlaceError("CPU " + std::to_string(cpu) + " cannot be used: " + reason());
}

void on_cpu(int cpu, const std::function<void()>& work) {
    std::exception_ptr failure;
    std::thread worker([&] {
        try {
            pin(cpu);
            work();
        } catch (...) {
            failure = std::current_exception();
        }
    });
    worker.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace autofinity::measure
