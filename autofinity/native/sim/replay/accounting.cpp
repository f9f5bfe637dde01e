// Time and events of streams, samples of them, and the region of interest.
#include <algorithm>

#include "sim/error.hpp"
#include "simulation.hpp"

namespace autofinity::sim {
namespace {

constexpr std::size_t most_sample_bytes = std::size_t{2} << 30;

}  // namespace

void Simulation::account(Stream& s, Ticks until) {
    if (until <= s.accounted) return;
    const Ticks time = until - s.accounted;
    s.accounted = until;
    if (s.status == Status::running)
        s.run_ticks += time;
    else if (s.status != Status::absent)
        s.halted_ticks += time;
    if (s.status == Status::blocked) s.sync_ticks += time;
}

void Simulation::account_all(Ticks until) {
    for (Stream& s : streams_) account(s, until);
}

void Simulation::settle_any_core(Stream& s) {
    const LlcRequests now = memory_.any_core(machine_->topology.llc_of_core()[pus_[s.pu].core]);
    s.any_reads += now.reads - s.any_seen.reads;
    s.any_modifies += now.modifies - s.any_seen.modifies;
    s.any_seen = now;
}

// Brings what follows from time into the counts, before the stream goes to another kind of core.
void Simulation::settle_clocks(Stream& s) {
    s.counts = counts_of_clocks(s, s.instructions);
    s.run_ticks = s.halted_ticks = s.sync_ticks = s.stall_ticks = 0;
    s.settled_instructions = s.instructions;
}

// Counts with the time on the present kind of core added, in clocks of that kind.
Counts Simulation::counts_of_clocks(const Stream& s, std::uint64_t done) const {
    Counts n = s.counts;
    const CoreClass& kind = kind_of(s);
    const auto own_clocks = [&](Ticks ticks) {
        return static_cast<std::uint64_t>(static_cast<double>(clocks(ticks)) * kind.clock_ratio);
    };
    n[retired_uops] += static_cast<std::uint64_t>(
        static_cast<double>(done - std::min(done, s.settled_instructions)) *
        kind.uops_per_instruction);
    n[cycles] += own_clocks(s.run_ticks);
    n[cpu_clocks_halted] += own_clocks(s.halted_ticks);
    n[stall_cycles_memory] += own_clocks(s.stall_ticks);
    n[stall_cycles_sync] += own_clocks(s.sync_ticks);
    return n;
}

// A long gap is under way at `at`, perhaps.
std::uint64_t Simulation::instructions_at(const Stream& s, Ticks at) const {
    const Pu& p = pus_[s.pu];
    if (s.status != Status::running || at <= p.time) return s.instructions;
    return s.instructions +
           std::min<std::uint64_t>((at - p.time) / p.instruction,
                                   s.at->gap() - std::min<std::uint64_t>(s.skip, s.at->gap()));
}

Counts Simulation::counts_at(const Stream& s, Ticks at) const {
    const Pu& p = pus_[s.pu];
    const std::uint64_t done = std::max(instructions_at(s, at), s.last_instructions);
    Counts n = counts_of_clocks(s, done);
    n[instructions] = done;
    n[data_cache_accesses] = n[data_cache_loads] + n[data_cache_stores];
    n[dtlb_accesses] = n[data_cache_accesses];
    const LlcRequests& seen = memory_.any_core(machine_->topology.llc_of_core()[p.core]);
    const std::uint64_t reads = s.any_reads + seen.reads - s.any_seen.reads;
    const std::uint64_t modifies = s.any_modifies + seen.modifies - s.any_seen.modifies;
    n[read_requests_to_llc_any_core] = reads + modifies;
    n[exclusive_read_requests_to_llc_any_core] = reads;
    n[modify_read_requests_to_llc_any_core] = modifies;
    return n;
}

// What has been counted since the latest sample, which is a part of the next one.
Counts Simulation::since_sample(Stream& s, Ticks at) {
    const Counts now = counts_at(s, at);
    s.last_instructions = now[instructions];
    Counts since;
    // A burst that was split after it had been counted can take a few accesses back.
    for (std::size_t i = 0; i < n_counters; ++i)
        since[i] = now[i] > s.sampled[i] ? now[i] - s.sampled[i] : 0;
    for (std::size_t i = 0; i < n_counters; ++i) s.sampled[i] += since[i];
    return since;
}

// The region ends: a sample of what is left, which a sample of the same time takes in.
void Simulation::take_last_sample(Ticks at) {
    if (at > last_sample_ || samples_.empty()) return take_sample(at);
    for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
        const Counts since = since_sample(streams_[stream], at);
        Counts& counts = samples_.back().counts[stream];
        for (std::size_t i = 0; i < n_counters; ++i) counts[i] += since[i];
    }
}

void Simulation::take_sample(Ticks at) {
    if (samples_.size() * streams_.size() * sizeof(Counts) > most_sample_bytes)
        throw SimulationError("the samples take more than 2 GiB; use a longer sample period than " +
                              std::to_string(clocks(options_.sample_period)) + " clocks");
    Sample sample;
    sample.start = last_sample_ - region_start_;
    sample.end = at - region_start_;
    sample.progress = progress();
    sample.counts.reserve(streams_.size());
    for (Stream& s : streams_) sample.counts.push_back(since_sample(s, at));
    last_sample_ = at;
    samples_.push_back(std::move(sample));
}

double Simulation::progress() const {
    if (ended_) return 1.0;
    std::uint64_t done = 0, total = 0;
    for (std::uint32_t process = 0; process < runs_.size(); ++process) {
        const ProcessRun& run = runs_[process];
        const Process& of = streams_of(process);
        const std::uint64_t all =
            options_.repeats * (of.instructions - std::min(of.instructions, run.done_before));
        total += all;
        if (run.ended) {
            done += all;
        } else if (run.in_region) {
            std::uint64_t sum = 0;
            for (std::uint32_t i = of.first_stream; i < of.first_stream + of.streams; ++i)
                sum += streams_[i].instructions;
            done += std::min(all, sum - std::min(sum, run.done_before));
        }
    }
    return total == 0 ? 0.0 : static_cast<double>(done) / static_cast<double>(total);
}

// Since the region of its process began; up to its end.
Counts Simulation::counts_of_region(const Stream& s) const {
    Counts n{};
    const ProcessRun& run = runs_[s.process];
    if (run.ended) return s.final;
    if (!run.in_region) return n;
    n = counts_at(s, now_);
    for (std::size_t i = 0; i < n_counters; ++i)
        n[i] = n[i] > s.baseline[i] ? n[i] - s.baseline[i] : 0;
    return n;
}

std::vector<Counts> Simulation::totals() const {
    std::vector<Counts> result;
    result.reserve(streams_.size());
    for (const Stream& s : streams_) result.push_back(counts_of_region(s));
    return result;
}

}  // namespace autofinity::sim
