#include "memory.hpp"

#include <algorithm>

namespace autofinity::sim {
namespace {

constexpr std::size_t near_bytes = std::size_t{4} << 20;  // of a directory in a host's own caches

std::uint32_t cores_at_a_time(const MachineModel& machine, const Program& program) {
    const auto cores = static_cast<std::uint32_t>(machine.topology.cores());
    return program.streams.size() <= domains_in_a_word ? domains_in_a_word
                                                       : std::max(domains_in_a_word, cores);
}

}  // namespace

Memory::Memory(const MachineModel& machine, const Program& program, Placement placement,
               std::uint64_t seed)
    : machine_(machine),
      pages_(program, machine, std::move(placement), seed),
      directory_(program.n_lines),
      most_(cores_at_a_time(machine, program)),
      more_words_((most_ - 1) / domains_in_a_word),
      more_sharers_(std::size_t{program.n_lines} * more_words_),
      llcs_(machine.topology.llcs(), machine.llc.sets, machine.llc.ways),
      filters_(machine.directory.ways != 0 ? machine.topology.nodes() : 0,
               std::max(machine.directory.sets, 1u), machine.directory.ways),
      worth_foresight_(directory_.size() * sizeof(DirectoryLine) >= near_bytes),
      kind_(kind_of(machine, most_)),
      cached_core_of_(machine.topology.cores(), -1),
      domain_of_l2_(machine.topology.cores(), -1),
      l2_is_shared_(machine.topology.cores(), false),
      domains_of_llc_(std::size_t{machine.topology.llcs()} * (more_words_ + 1), 0),
      node_of_llc_(machine.topology.llcs(), 0),
      any_core_(machine.topology.llcs()),
      controllers_(machine.topology.nodes()),
      links_(machine.link_service.size()),
      fabrics_(machine.topology.llcs()) {
    for (std::size_t core = machine.topology.cores(); core-- > 0;)
        node_of_llc_[machine.topology.llc_of_core()[core]] = machine.topology.node_of_core()[core];
    std::vector<bool> seen(l2_is_shared_.size(), false);
    for (const std::uint32_t l2 : machine.topology.l2_of_core()) {
        if (seen[l2]) l2_is_shared_[l2] = true;
        seen[l2] = true;
    }
    lost_.reserve(most_);
}

Served Memory::access(std::uint32_t cached_core, const Step& step, Ticks now, bool faulted) {
    PrivateCaches& c = *cores_[cached_core];
    switch (kind_) {
        case MachineKind::exclusive:
            return access_on<MachineKind::exclusive>(c, step, now, faulted);
        case MachineKind::victim:
            return access_on<MachineKind::victim>(c, step, now, faulted);
        case MachineKind::inclusive:
            return access_on<MachineKind::inclusive>(c, step, now, faulted);
        default:
            return access_on<MachineKind::any>(c, step, now, faulted);
    }
}

template <MachineKind kind>
[[gnu::noinline]] Served Memory::access_on(PrivateCaches& c, const Step& step, Ticks now,
                                           bool faulted) {
    Counts& n = *c.counts;
    counts_ = &n;
    now_ = now;
    const Line line = step.line();
    const Ticks walk = translate<kind>(c, line >> page_shift, now, faulted);
    const bool atomic = step.is_atomic();
    const bool writes = step.writes() != 0;
    const bool reads_first = step.reads() != 0 && !(writes && (atomic || step.writes_first()));
    Ticks ready = now;
    bool contended = false;
    std::uint8_t supplied = 0;
    Word* set = c.l1.at(line);
    const int way = c.l1.find(set, line);
    Word state = way >= 0 ? state_of(set[way]) : Word{invalid};
    bool missed = false;  // and the prefetcher is to know
    if (state != invalid) {
        c.l1.to_front(set, way, set[way]);
    } else {
        if (way >= 0) {
            ++n[coherence_misses];
            contended = true;
        }
        ++n[data_cache_misses];
        // The directory knows, and is asked next if it is not there.
        const bool in_l2 = holds<kind>(c.domain, line);
        const bool was_there =
            Asked<kind>::has_l2(c) ? in_l2 : (directory_[line].llcs >> c.llc & 1) != 0;
        if (Asked<kind>::has_l2(c)) ++n[l2_accesses];
        if (in_l2) {
            Word* set2 = c.l2.at(pages_.physical(line));
            const int way2 = c.l2.find(set2, line);
            state = state_of(set2[way2]);
            ++n[data_cache_refills_from_l2];
            ready = now + c.side.l2_hit;
            if (Asked<kind>::levels_exclude(c))
                c.l2.remove(set2, way2);
            else
                c.l2.to_front(set2, way2, set2[way2]);
            if (Asked<kind>::shares_l2(c)) [[unlikely]]
                state = take_from_l2(c, line, reads_first || !writes, now, ready, contended);
        } else {
            if (Asked<kind>::has_l2(c)) ++n[l2_misses];
            ++n[data_cache_refills_from_northbridge];
            const Request request = reads_first ? Request::load
                                    : atomic    ? Request::atomic
                                                : Request::store;
            supplied_ = 0;
            if constexpr (Asked<kind>::known)
                ready = fetch_line<kind, false>(c, line, request, now, state, contended);
            else
                ready = fetch<kind>(c, line, request, now, state, contended);
            supplied = supplied_;
            if (!Asked<kind>::levels_exclude(c)) fill_l2<kind>(c, line, state);
        }
        fill_l1<kind>(c, set, way, word_of(line, state));
        if (c.prefetcher.present()) {
            ready = arrival<kind>(c, line, was_there, ready);
            missed = true;
        }
    }
    if (writes && (state == shared || state == owned))
        ready = upgrade(c, line, atomic, ready, contended);
    else if (writes && state == exclusive)
        set[0] = word_of(line, modified);
    // Last, for what it fetches may push the line out again.
    if (missed) c.prefetcher.train(line, now, [&](Line ahead) { prefetch<kind>(c, ahead, now); });
    return {ready + walk, contended, supplied};
}

}  // namespace autofinity::sim
