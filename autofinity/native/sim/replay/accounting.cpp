#include "accounting.hpp"

#include <algorithm>

namespace autofinity::sim {

void Accounting::account(Stream& s, Ticks until) {
    Account& a = s.account;
    if (until <= a.accounted) return;
    const Ticks time = until - a.accounted;
    a.accounted = until;
    if (s.status == Status::running)
        a.run_ticks += time;
    else if (s.status != Status::absent)
        a.halted_ticks += time;
    if (s.status != Status::blocked) return;
    a.sync_ticks += time;
    if (s.waits_at_barrier()) a.barrier_ticks += time;
}

void Accounting::account_all(Ticks until) {
    for (Stream& s : board_.streams) account(s, until);
}

void Accounting::assign(Stream& s, std::uint32_t pu) {
    settle_any_core(s);
    if (&board_.kind_of(s) != board_.pus[pu].kind) settle_clocks(s);
    s.pu = pu;
    s.account.any_seen = any_core(pu);
}

void Accounting::settle_any_core(Stream& s) {
    Account& a = s.account;
    const LlcRequests now = any_core(s.pu);
    a.any_reads += now.reads - a.any_seen.reads;
    a.any_modifies += now.modifies - a.any_seen.modifies;
    a.any_seen = now;
}

// Adds the counts that follow from time, before the stream moves to another kind of core.
void Accounting::settle_clocks(Stream& s) {
    Account& a = s.account;
    a.counts = counts_of_clocks(s, s.instructions);
    a.run_ticks = a.halted_ticks = a.sync_ticks = a.stall_ticks = 0;
    a.settled_instructions = s.instructions;
}

// Counts with the time on the present kind of core added, in clocks of that kind.
Counts Accounting::counts_of_clocks(const Stream& s, std::uint64_t done) const {
    const Account& a = s.account;
    Counts n = a.counts;
    const CoreClass& kind = board_.kind_of(s);
    const auto own_clocks = [&](Ticks ticks) {
        return static_cast<std::uint64_t>(static_cast<double>(clocks(ticks)) * kind.clock_ratio);
    };
    n[retired_uops] += static_cast<std::uint64_t>(
        static_cast<double>(done - std::min(done, a.settled_instructions)) *
        kind.uops_per_instruction);
    n[cycles] += own_clocks(a.run_ticks);
    n[cpu_clocks_halted] += own_clocks(a.halted_ticks);
    n[stall_cycles_memory] += own_clocks(a.stall_ticks);
    n[stall_cycles_sync] += own_clocks(a.sync_ticks);
    return n;
}

Counts Accounting::counts_at(const Stream& s, Ticks at) const {
    const Account& a = s.account;
    const Pu& p = board_.pus[s.pu];
    const bool in_gap = s.status == Status::running && at > p.time;
    const std::uint64_t done =
        std::max(in_gap ? p.instructions_at(s, at) : s.instructions, a.last_instructions);
    Counts n = counts_of_clocks(s, done);
    n[instructions] = done;
    n[data_cache_accesses] = n[data_cache_loads] + n[data_cache_stores];
    n[dtlb_accesses] = n[data_cache_accesses];
    const LlcRequests& seen = any_core(s.pu);
    const std::uint64_t reads = a.any_reads + seen.reads - a.any_seen.reads;
    const std::uint64_t modifies = a.any_modifies + seen.modifies - a.any_seen.modifies;
    n[read_requests_to_llc_any_core] = reads + modifies;
    n[exclusive_read_requests_to_llc_any_core] = reads;
    n[modify_read_requests_to_llc_any_core] = modifies;
    return n;
}

void Accounting::begin_region(Stream& s, Ticks at) {
    account(s, at);
    settle_any_core(s);
    s.account.sampled = s.account.baseline = counts_at(s, at);
}

Counts Accounting::since_region_began(const Stream& s, Ticks at) const {
    Counts n = counts_at(s, at);
    const Counts& before = s.account.baseline;
    for (std::size_t i = 0; i < n.size(); ++i) n[i] = n[i] > before[i] ? n[i] - before[i] : 0;
    return n;
}

Counts Accounting::take_sample(Stream& s, Ticks at) {
    const Counts now = counts_at(s, at);
    Counts& sampled = s.account.sampled;
    s.account.last_instructions = now[instructions];
    Counts since;
    // A burst that was split after it had been counted can subtract a few accesses.
    for (std::size_t i = 0; i < now.size(); ++i)
        since[i] = now[i] > sampled[i] ? now[i] - sampled[i] : 0;
    for (std::size_t i = 0; i < now.size(); ++i) sampled[i] += since[i];
    return since;
}

}  // namespace autofinity::sim
