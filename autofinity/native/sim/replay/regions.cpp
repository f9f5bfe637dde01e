#include "regions.hpp"

#include <algorithm>

namespace autofinity::sim {

Regions::Regions(const Program& program, Accounting& accounting, Board& board,
                 const Timetable& timetable, std::uint32_t repeats)
    : program_(program),
      accounting_(accounting),
      board_(board),
      timetable_(timetable),
      repeats_(repeats),
      regions_(program.processes.size()),
      not_ended_(static_cast<std::uint32_t>(regions_.size())) {}

bool Regions::begin(std::uint32_t process, Ticks at) {
    Region& region = regions_[process];
    const Process& of = program_.processes[process];
    region.begun = true;
    region.begin = at;
    for (std::uint32_t i = of.first_stream; i < of.first_stream + of.streams; ++i)
        accounting_.begin_region(board_.streams[i], at);
    region.done_before += instructions_of(of);
    if (any_begun_) return false;
    any_begun_ = true;
    first_begin_ = at;
    return true;
}

void Regions::begin_anew(Ticks at) {
    begin(0, at);
    first_begin_ = at;
}

bool Regions::end(std::uint32_t process, Ticks at) {
    Region& region = regions_[process];
    const Process& of = program_.processes[process];
    for (std::uint32_t i = of.first_stream; i < of.first_stream + of.streams; ++i) {
        Stream& s = board_.streams[i];
        accounting_.account(s, at);
        s.account.final = accounting_.since_region_began(s, at);
    }
    region.ended = true;
    region.end = at;
    return --not_ended_ == 0;
}

std::uint64_t Regions::instructions_of(const Process& process) const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = process.first_stream; i < process.first_stream + process.streams; ++i)
        sum += board_.streams[i].instructions;
    return sum;
}

double Regions::progress() const {
    if (all_ended()) return 1.0;
    std::uint64_t done = 0, total = 0;
    for (std::uint32_t process = 0; process < regions_.size(); ++process) {
        const Region& region = regions_[process];
        const Process& of = program_.processes[process];
        const std::uint64_t all =
            repeats_ * (of.instructions - std::min(of.instructions, region.done_before));
        total += all;
        if (region.ended) {
            done += all;
        } else if (region.begun) {
            const std::uint64_t sum = instructions_of(of);
            done += std::min(all, sum - std::min(sum, region.done_before));
        }
    }
    return total == 0 ? 0.0 : static_cast<double>(done) / static_cast<double>(total);
}

RegionTimes Regions::times_of(std::uint32_t process) const {
    const Region& region = regions_[process];
    if (!region.begun) return {elapsed(), elapsed(), false};
    const Ticks end = region.ended ? region.end : std::max(timetable_.now, region.begin);
    return {region.begin - first_begin_, end - first_begin_, region.ended};
}

std::vector<Counts> Regions::totals() const {
    std::vector<Counts> result;
    result.reserve(board_.streams.size());
    for (const Stream& s : board_.streams) {
        const Region& region = regions_[s.process];
        if (region.ended)
            result.push_back(s.account.final);
        else
            result.push_back(region.begun ? accounting_.since_region_began(s, timetable_.now)
                                          : Counts{});
    }
    return result;
}

}  // namespace autofinity::sim
