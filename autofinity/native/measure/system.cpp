#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <functional>
#include <thread>

#include "measure/measure.hpp"

namespace autofinity::measure {

namespace {

constexpr int turns = 1000;
// Longest time of a round: on a busy CPU a turn may have to wait for the time slices of others.
constexpr double longest_round_ns = 5e7;

class Pipe {
  public:
    Pipe() {
        if (pipe(ends_.data()) != 0) throw PlaceError("no pipe is to be had");
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;
    ~Pipe() {
        close(ends_[0]);
        close_writer();
    }
    bool give() const {
        const char byte = 0;
        return write(ends_[1], &byte, 1) == 1;
    }
    // False when the writer has closed.
    bool take() const {
        char byte = 0;
        return read(ends_[0], &byte, 1) == 1;
    }
    void close_writer() {
        if (ends_[1] >= 0) close(ends_[1]);
        ends_[1] = -1;
    }

  private:
    std::array<int, 2> ends_{-1, -1};
};

// Medians of rounds of `turn`, which gives the nanoseconds of one, or nothing below zero. Turns in
// which another program ran are useless, and on a busy machine a mean contains many of them.
Samples medians(int rounds, const std::function<double()>& turn) {
    Samples samples;
    for (int round = 0; round < rounds; ++round) {
        Samples single;
        const double give_up = now_ns() + longest_round_ns;
        for (int i = 0; i < turns && now_ns() < give_up; ++i) {
            const double ns = turn();
            if (ns >= 0) single.push_back(ns);
        }
        if (single.empty()) continue;
        const auto middle = single.begin() + static_cast<std::ptrdiff_t>(single.size() / 2);
        std::nth_element(single.begin(), middle, single.end());
        samples.push_back(*middle);
    }
    return samples;
}

// Runs `partner` and then `work` in threads on `cpu`; `stop` ends the partner.
void with_partner(int cpu, const std::function<void()>& partner, const std::function<void()>& work,
                  const std::function<void()>& stop) {
    std::exception_ptr failure;
    on_cpu(cpu, [&] {
        // Threads begin where their parents may run: on this CPU.
        std::thread other(partner);
        try {
            work();
        } catch (...) {
            failure = std::current_exception();
        }
        stop();
        other.join();
    });
    if (failure) std::rethrow_exception(failure);
}

}  // namespace

Samples switch_ns(int cpu, int rounds) {
    std::atomic<bool> done{false};
    std::atomic<double> other_ran{0};
    Samples samples;
    with_partner(
        cpu,
        [&] {
            while (!done) {
                other_ran = now_ns();
                sched_yield();
            }
        },
        [&] {
            samples = medians(rounds, [&] {
                other_ran = 0;
                sched_yield();
                const double ran = other_ran;
                return ran > 0 ? now_ns() - ran : -1.0;
            });
        },
        [&] { done = true; });
    return samples;
}

Samples wake_and_switch_ns(int cpu, int rounds) {
    Pipe there, back;
    Samples samples;
    with_partner(
        cpu,
        [&] {
            while (there.take() && back.give()) {
            }
        },
        [&] {
            samples = medians(rounds, [&] {
                const double begin = now_ns();
                return there.give() && back.take() ? (now_ns() - begin) / 2 : -1.0;
            });
        },
        [&] { there.close_writer(); });
    return samples;
}

Samples move_ns(int cpu, int other_cpu, int rounds) {
    Samples samples;
    on_cpu(cpu, [&] {
        bool away = false;
        samples = medians(rounds, [&] {
            away = !away;
            const double begin = now_ns();
            pin(away ? other_cpu : cpu);
            return now_ns() - begin;
        });
    });
    return samples;
}

}  // namespace autofinity::measure
