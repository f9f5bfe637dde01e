#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>

#include "measure/measure.hpp"

namespace autofinity::measure {

namespace {

constexpr std::uint64_t trips = 2000;
// Two threads that never run at the same time (one CPU behind both) must not block the program.
constexpr double longest_handover_ns = 2e9;

// Takes the turns of one parity: swaps `mine` for `mine + 1` until `last`.
bool play(std::atomic<std::uint64_t>& ball, std::uint64_t mine, std::uint64_t last) {
    const double give_up = now_ns() + longest_handover_ns;
    std::uint32_t tries = 0;
    for (; mine < last; mine += 2) {
        std::uint64_t expected = mine;
        while (!ball.compare_exchange_strong(expected, mine + 1, std::memory_order_acq_rel)) {
            // Beyond our turn: the other thread has failed and ended its part.
            if (expected > mine) return false;
            expected = mine;
            if (++tries % 4096 == 0 && now_ns() > give_up) return false;
        }
    }
    return true;
}

}  // namespace

Samples handover_ns(int cpu, int other_cpu, int rounds) {
    struct alignas(2 * line_bytes) Ball {
        std::atomic<std::uint64_t> value{0};
    } ball;
    const std::uint64_t last = 2 * trips * static_cast<std::uint64_t>(rounds + 1);
    std::exception_ptr failure;
    std::thread partner([&] {
        try {
            pin(other_cpu);
            play(ball.value, 1, last);
        } catch (...) {
            failure = std::current_exception();
            ball.value = last;  // no thread waits for this one
        }
    });
    Samples samples;
    std::exception_ptr own;
    try {
        on_cpu(cpu, [&] {
            for (int round = 0; round <= rounds; ++round) {
                const std::uint64_t first = 2 * trips * static_cast<std::uint64_t>(round);
                const double begin = now_ns();
                if (!play(ball.value, first, first + 2 * trips)) return;
                // The first round waits for the partner to start. A trip is two hand-overs.
                if (round > 0) samples.push_back((now_ns() - begin) / (2.0 * trips));
            }
        });
    } catch (...) {
        own = std::current_exception();
        ball.value = last;
    }
    partner.join();
    if (own) std::rethrow_exception(own);
    if (failure) std::rethrow_exception(failure);
    return samples;
}

}  // namespace autofinity::measure
