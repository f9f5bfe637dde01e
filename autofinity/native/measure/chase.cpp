#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>

#include "measure/measure.hpp"

namespace autofinity::measure {

namespace {

constexpr std::size_t page_bytes = 4096;
constexpr double round_ns = 1e6;

struct Line {
    Line* next;
};

// Links all lines into one ring in random order; returns the lines in that order.
std::vector<Line*> ring(const Buffer& buffer, const Chase& chase) {
    std::vector<std::uint32_t> order(chase.lines);
    std::iota(order.begin(), order.end(), 0u);
    std::mt19937_64 random(chase.lines);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<Line*> lines;
    lines.reserve(chase.lines);
    for (const std::uint32_t i : order) {
        std::size_t at = i * chase.stride_bytes;
        // Lines at one offset of every page would meet in a few sets of the caches.
        if (chase.stride_bytes >= page_bytes) at += i % (page_bytes / line_bytes) * line_bytes;
        lines.push_back(reinterpret_cast<Line*>(buffer.data() + at));
    }
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i]->next = lines[(i + 1) % lines.size()];
    return lines;
}

// Follows `chains` pointers `steps` times each.
template <int chains>
void follow(std::vector<Line*>& at, std::size_t steps) {
    Line* local[chains];
    std::copy_n(at.begin(), chains, local);
    for (std::size_t step = 0; step < steps; ++step)
        for (Line*& line : local) line = line->next;
    // The compiler must believe that the loads are needed.
    for (Line*& line : local) asm volatile("" : "+r"(line));
    std::copy_n(local, chains, at.begin());
}

void follow_all(std::vector<Line*>& at, std::size_t steps) {
    if (at.size() == 1)
        follow<1>(at, steps);
    else
        follow<most_chains>(at, steps);
}

}  // namespace

Samples chase_ns(int cpu, const Chase& chase, int rounds) {
    if (chase.lines < most_chains || chase.stride_bytes < line_bytes ||
        (chase.chains != 1 && chase.chains != most_chains))
        throw PlaceError("a chase needs at least 32 lines, 64 bytes apart, and 1 or 32 chains");
    Samples samples;
    on_cpu(cpu, [&] {
        const Buffer buffer(chase.lines * chase.stride_bytes + page_bytes, chase.node, chase.pages);
        const auto lines = ring(buffer, chase);
        std::vector<Line*> at;
        for (int chain = 0; chain < chase.chains; ++chain)
            at.push_back(lines[lines.size() / static_cast<std::size_t>(chase.chains) *
                               static_cast<std::size_t>(chain)]);
        // Warms up, and finds the number of steps of a round: once around or a few milliseconds.
        std::size_t steps = std::min<std::size_t>(lines.size(), 100'000);
        const double start = now_ns();
        follow_all(at, steps);
        const double step_ns = (now_ns() - start) / static_cast<double>(steps);
        if (lines.size() < 100'000) follow_all(at, 2 * lines.size());
        steps = std::max<std::size_t>(1000, static_cast<std::size_t>(round_ns / step_ns));
        for (int round = 0; round < rounds; ++round) {
            const double begin = now_ns();
            follow_all(at, steps);
            samples.push_back((now_ns() - begin) /
                              (static_cast<double>(steps) * static_cast<double>(chase.chains)));
        }
    });
    return samples;
}

}  // namespace autofinity::measure
