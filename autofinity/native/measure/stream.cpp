#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>

#include "measure/measure.hpp"

namespace autofinity::measure {

namespace {

// Reads everything, eight words a line in eight sums: one chain would be slower than the memory.
std::uint64_t read_all(const std::byte* data, std::size_t bytes) {
    std::uint64_t sums[8] = {};
    const auto* words = reinterpret_cast<const std::uint64_t*>(data);
    for (std::size_t i = 0; i < bytes / sizeof(std::uint64_t); i += 8)
        for (std::size_t k = 0; k < 8; ++k) sums[k] += words[i + k];
    std::uint64_t sum = 0;
    for (const std::uint64_t each : sums) sum += each;
    return sum;
}

// All threads meet here; a thread that failed has left.
class Meeting {
  public:
    explicit Meeting(int threads) : threads_(threads) {}
    void wait() {
        const int mine = round_.load();
        if (waiting_.fetch_add(1) + 1 >= threads_.load()) {
            waiting_ = 0;
            round_.fetch_add(1);
            return;
        }
        while (round_.load() == mine) {
            if (failed_.load()) return;
            std::this_thread::yield();
        }
    }
    void fail() { failed_ = true; }
    bool failed() const { return failed_.load(); }

  private:
    std::atomic<int> threads_, waiting_{0}, round_{0};
    std::atomic<bool> failed_{false};
};

}  // namespace

Samples read_gbs(const std::vector<int>& cpus, int node, std::size_t bytes_each, int rounds) {
    Samples samples;
    Meeting meeting(static_cast<int>(cpus.size()));
    std::vector<std::exception_ptr> failures(cpus.size());
    std::atomic<std::uint64_t> kept{0};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < cpus.size(); ++i)
        threads.emplace_back([&, i] {
            try {
                pin(cpus[i]);
                const Buffer buffer(bytes_each, node, Pages::large);
                for (int round = 0; round <= rounds && !meeting.failed(); ++round) {
                    meeting.wait();
                    const double begin = now_ns();
                    kept += read_all(buffer.data(), buffer.size());
                    meeting.wait();
                    // From the common start to the last one's end; the first round warms up.
                    if (i == 0 && round > 0)
                        samples.push_back(static_cast<double>(buffer.size() * cpus.size()) /
                                          (now_ns() - begin));
                }
            } catch (...) {
                failures[i] = std::current_exception();
                meeting.fail();
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
    return samples;
}

}  // namespace autofinity::measure
