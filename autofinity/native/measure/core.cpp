#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "measure/measure.hpp"

namespace autofinity::measure {

Samples clock_ghz(int cpu, int rounds) {
    constexpr int additions = 1'600'000;
    Samples samples;
    on_cpu(cpu, [&] {
        std::uint64_t sum = 1, term = 3;
        for (int round = 0; round < rounds + 1; ++round) {
            const double begin = now_ns();
            for (int i = 0; i < additions; i += 16) {
#pragma GCC unroll 16
                for (int k = 0; k < 16; ++k) {
                    sum += term;
                    // Keeps the additions from being folded or reordered; some cores add small
                    // constants without cost.
                    asm volatile("" : "+r"(sum), "+r"(term));
                }
            }
            // The first round lets the clock rise.
            if (round > 0) samples.push_back(additions / (now_ns() - begin));
        }
    });
    return samples;
}

Samples atomic_ns(int cpu, int rounds) {
    constexpr int additions = 100'000;
    Samples samples;
    on_cpu(cpu, [&] {
        alignas(line_bytes) std::atomic<std::uint64_t> value{0};
        for (int round = 0; round < rounds; ++round) {
            const double begin = now_ns();
            for (int i = 0; i < additions; ++i) value.fetch_add(1);
            samples.push_back((now_ns() - begin) / additions);
        }
    });
    return samples;
}

Samples page_fault_ns(int cpu, int rounds) {
    constexpr std::size_t pages = 1000;
    Samples samples;
    on_cpu(cpu, [&] {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        for (int round = 0; round < rounds; ++round) {
            void* region = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (region == MAP_FAILED) throw PlaceError("no memory for a thousand pages");
            madvise(region, pages * page, MADV_NOHUGEPAGE);
            auto* bytes = static_cast<volatile char*>(region);
            const double begin = now_ns();
            for (std::size_t i = 0; i < pages; ++i) bytes[i * page] = 1;
            samples.push_back((now_ns() - begin) / pages);
            munmap(region, pages * page);
        }
    });
    return samples;
}

}  // namespace autofinity::measure
