#include "whole_trace.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "sim/error.hpp"
#include "sim/memory/units.hpp"
#include "sim/memory/zeroed.hpp"

namespace autofinity::sim {
namespace {

struct LineCount {
    Line line;
    std::uint32_t thread;
    std::uint64_t accesses;
};

// Calls `visit(step)` for the stream's accesses in the region. Before the region begins, only its
// own stream has accesses that do not count.
template <typename Visit>
void each_access(const std::vector<Step>& steps, Visit&& visit) {
    const auto begin = std::find_if(steps.begin(), steps.end(), [](const Step& step) {
        return step.is(trace::Kind::roi_begin);
    });
    for (auto at = begin == steps.end() ? steps.begin() : begin; at != steps.end(); ++at)
        if (at->is_access()) visit(*at);
}

// Accesses of each thread to each line, line by line.
std::vector<LineCount> count_lines(const Program& program,
                                   const std::vector<std::uint32_t>& threads) {
    std::vector<LineCount> found;
    Zeroed<std::uint64_t> accesses(program.n_lines);
    std::vector<Line> touched;
    for (std::uint32_t thread = 0; thread < threads.size(); ++thread) {
        touched.clear();
        each_access(program.streams[threads[thread]].steps, [&](const Step& step) {
            if (accesses[step.line()] == 0) touched.push_back(step.line());
            accesses[step.line()] += step.accesses();
        });
        for (const Line line : touched)
            found.push_back({line, thread, std::exchange(accesses[line], 0)});
    }
    std::sort(found.begin(), found.end(), [](const LineCount& a, const LineCount& b) {
        return a.line != b.line ? a.line < b.line : a.thread < b.thread;
    });
    return found;
}

void check(const Program& program, const std::vector<std::uint32_t>& threads) {
    for (const std::uint32_t stream : threads)
        if (stream >= program.streams.size())
            throw SimulationError("no stream " + std::to_string(stream) + "; the trace has " +
                                  std::to_string(program.streams.size()));
}

}  // namespace

WholeTrace whole_trace(const Program& program, const std::vector<std::uint32_t>& threads,
                       std::uint32_t page_bytes) {
    check(program, threads);
    const Units units(program, page_bytes);
    const std::size_t n = threads.size();
    WholeTrace result;
    result.sharing.resize(n * n);
    std::unordered_map<std::uint64_t, std::size_t> row_of;
    const std::vector<LineCount> lines = count_lines(program, threads);
    for (auto first = lines.begin(); first != lines.end();) {
        const auto end = std::find_if(
            first, lines.end(), [&](const LineCount& each) { return each.line != first->line; });
        const std::uint64_t number = program.virtual_page[first->line >> page_shift];
        if (number != 0) {
            const auto [at, added] =
                row_of.try_emplace(units.first_page(number), result.pages.size());
            if (added) {
                result.pages.push_back(at->first);
                result.accesses.resize(result.accesses.size() + n);
            }
            for (auto a = first; a != end; ++a) {
                result.accesses[at->second * n + a->thread] += a->accesses;
                for (auto b = first; b != a; ++b) {
                    const std::uint64_t both = std::min(a->accesses, b->accesses);
                    result.sharing[a->thread * n + b->thread] += both;
                    result.sharing[b->thread * n + a->thread] += both;
                }
            }
        }
        first = end;
    }
    return result;
}

}  // namespace autofinity::sim
