// Directory transactions: who gets a line, from whom, and who loses it.
#include <algorithm>

#include "bits.hpp"
#include "copies.hpp"
#include "directory_filter.hpp"
#include "traffic.hpp"

namespace autofinity::sim {

template <bool many>
std::uint32_t Memory::farthest(std::uint32_t llc, SharersOf<many> have, std::uint32_t llcs) const {
    std::uint32_t most = 0;
    have.each([&](auto other) { most = std::max(most, distance(llc, l2_domains_[other]->llc)); });
    each_bit(llcs, [&](auto other) { most = std::max(most, distance(llc, other)); });
    return most;
}

// Of the LLCs and L2s that have a line, the nearest one to `llc`; at the same distance the LLC.
template <bool many>
Memory::Supplier Memory::nearest(std::uint32_t llc, SharersOf<many> have,
                                 std::uint32_t llcs) const {
    Supplier best{nowhere, nowhere};
    std::uint32_t least = max_distances;
    const auto offer = [&](std::uint32_t from, std::uint32_t domain) {
        if (distance(llc, from) < least) {
            least = distance(llc, from);
            best = {from, domain};
        }
    };
    each_bit(llcs, [&](auto other) { offer(other, nowhere); });
    have.each([&](auto other) { offer(l2_domains_[other]->llc, other); });
    return best;
}

// Which cache hands out a line that memory has, too: any, or only one of the LLC's own cores.
template <bool many>
Memory::Supplier Memory::supplier_of_clean(std::uint32_t llc, SharersOf<many> have,
                                           std::uint32_t llcs) {
    if (machine_.clean_forwarding) return nearest(llc, have, llcs);
    const std::uint32_t inside = have.first_of(domains_of_llc(llc), nowhere);
    return {inside == nowhere ? nowhere : llc, inside};
}

// Invalidates every copy but that of the requester's own domain.
template <bool many>
[[gnu::noinline]] void Memory::take_from_others(const PrivateCaches& c, Line line,
                                                DirectoryLine& d) {
    Counts& n = *counts_;
    const std::uint32_t home = pages_.node(line >> page_shift);
    SharersOf<many> have = sharers<many>(line, d);
    have.each([&](auto other) {
        if (other == c.domain) return;
        const L2Domain& o = *l2_domains_[other];
        Counts& theirs = counts_of_copy(other, line);
        each_copy(other, line, [&](PrivateCaches& copy) {
            ++n[invalidations_sent];
            ++(*copy.counts)[invalidations_received];
        });
        const Word had = drop_private(other, line);
        ++theirs[is_dirty(had) ? probe_responses_dirty : probe_responses_clean];
        tell_lost(other, line, false);
        signal(home, o.node);
        signal(o.node, c.node);
    });
    const std::uint32_t own = machine_.llc_inclusive ? 1u << c.llc : 0;
    each_bit(d.llcs & ~own, [&](auto llc) { llc_remove(llc, line); });
    have.clear();
    have.add(c.domain);
    d.owner_plus_one = static_cast<std::uint16_t>(c.domain + 1);
    d.dirty_llc_plus_one = 0;
}

Ticks Memory::upgrade(PrivateCaches& c, Line line, bool atomic, Ticks now, bool& contended) {
    if (c.shares_l2) [[unlikely]] {
        const Word held = private_state(c.domain, line);
        if (held != shared && held != owned) return upgrade_in_l2(c, line, now, contended);
        contended |= take_from_siblings(c, line);
    }
    return more_words_ == 0 ? upgrade_line<false>(c, line, atomic, now, contended)
                            : upgrade_line<true>(c, line, atomic, now, contended);
}

template <bool many>
Ticks Memory::upgrade_line(PrivateCaches& c, Line line, bool atomic, Ticks now, bool& contended) {
    Counts& n = *counts_;
    DirectoryLine& d = directory_[line];
    ++n[upgrades];
    ++n[llc_requests];
    ++n[llc_modify_requests];
    ++any_core_[c.llc].modifies;
    if (filters_.count() != 0) track(line, true);
    const Ticks start = wait_for_line(line, now);
    const SharersOf<many> have = sharers<many>(line, d);
    const bool others = have.any_but(c.domain);
    const std::uint32_t home = pages_.node(line >> page_shift);
    signal(c.node, home);
    Ticks ready = start;
    if (others || (d.llcs & ~(1u << c.llc)) != 0) {
        const std::uint32_t away = farthest(c.llc, have, d.llcs);
        ready += (atomic ? machine_.atomic_shared : machine_.store_shared)[away];
    } else {
        // Nobody to tell but the home node.
        ready +=
            machine_
                .store_modified[machine_.node_distance[c.node * machine_.topology.nodes() + home]];
    }
    contended |= others;
    take_from_others<many>(c, line, d);
    set_private_state(c.domain, line, modified);
    if (others) keep_busy(line, ready);
    return ready;
}

template <MachineKind kind, bool many>
[[gnu::always_inline]] inline Ticks Memory::fetch_line(PrivateCaches& c, Line line, Request request,
                                                       Ticks now, Word& granted, bool& contended) {
    Counts& n = *counts_;
    DirectoryLine& d = directory_[line];
    const std::uint32_t own_llc = 1u << c.llc;
    const bool load = request == Request::load;
    ++n[llc_requests];
    ++n[load ? llc_read_requests : llc_modify_requests];
    ++(load ? any_core_[c.llc].reads : any_core_[c.llc].modifies);
    SharersOf<many> have = sharers<many>(line, d);  // the core itself does not
    const bool others = !have.none();
    const bool nobody = !others && d.llcs == 0;
    if (Asked<kind>::limits_directory(machine_)) track(line, !nobody);

    const Ticks start = wait_for_line(line, now);
    contended |= start != now;
    const std::uint32_t home = pages_.node(line >> page_shift);
    if (nobody) {
        ++n[llc_misses];
        signal(c.node, home);
        const Ticks ready = from_dram(c, line, start);
        have.add(c.domain);
        d.owner_plus_one = static_cast<std::uint16_t>(c.domain + 1);
        granted = load ? exclusive : modified;
        if (Asked<kind>::llc_includes(machine_)) llc_insert<kind>(c.llc, line);
        return ready;
    }
    const auto& from_modified = load                        ? machine_.load_modified
                                : request == Request::store ? machine_.store_modified
                                                            : machine_.atomic_modified;
    const auto& from_shared = load                        ? machine_.load_shared
                              : request == Request::store ? machine_.store_shared
                                                          : machine_.atomic_shared;
    const std::uint32_t other_llcs = d.llcs & ~own_llc;
    const bool hit = (d.llcs & own_llc) != 0;
    ++n[hit ? llc_hits : llc_misses];
    if (!hit) signal(c.node, home);
    Ticks ready;
    bool transferred = false;

    if (d.owner_plus_one != 0) {
        // The owner has the only valid data.
        const std::uint32_t owner = d.owner_plus_one - 1u;
        const L2Domain& o = *l2_domains_[owner];
        Counts& theirs = counts_of_copy(owner, line);
        if (load) signal(home, o.node);
        const Word had = private_state(owner, line);
        const std::uint32_t away =
            load ? distance(c.llc, o.llc) : farthest(c.llc, have, other_llcs);
        ready = start + (had == owned || have.several() ? from_shared : from_modified)[away];
        ready += transfer_line(c, o.llc, start);
        ++theirs[cache_to_cache_transfers_supplied];
        transferred = true;
        if (load) {
            ++theirs[is_dirty(had) ? probe_responses_dirty : probe_responses_clean];
            granted = shared;
            if (had != owned) {
                ++theirs[downgrades_received];
                tell_lost(owner, line, true);
                keep_busy(line, ready);
                if (had == modified && machine_.owned_state) {
                    set_private_state(owner, line, owned);
                    d.dirty_llc_plus_one = 0;
                } else {
                    set_private_state(owner, line, shared);
                    d.owner_plus_one = 0;
                    if (had == modified) {
                        if (Asked<kind>::llc_includes(machine_))
                            d.dirty_llc_plus_one = static_cast<std::uint8_t>(o.llc + 1);
                        else
                            write_dram(o.node, line);
                    }
                }
            }
        }
    } else if (hit) {
        ready = start + machine_.llc_hit;
        if (!load && (others || other_llcs != 0))
            ready = std::max(ready, start + from_shared[farthest(c.llc, have, other_llcs)]);
    } else if (d.dirty_llc_plus_one != 0) {
        const std::uint32_t from = d.dirty_llc_plus_one - 1u;
        const std::uint32_t away = load ? distance(c.llc, from) : farthest(c.llc, have, d.llcs);
        ready = start + (others ? from_shared : from_modified)[away];
        ready += transfer_line(c, from, start);
        transferred = true;
        if (load && !machine_.owned_state) {
            write_dram(node_of_llc_[from], line);
            d.dirty_llc_plus_one = 0;
        }
    } else {
        const Supplier from = supplier_of_clean(c.llc, have, d.llcs);
        if (from.llc != nowhere) {
            ready = start + machine_.load_shared[distance(c.llc, from.llc)];
            ready += transfer_line(c, from.llc, start);
            if (from.domain != nowhere) {
                Counts& theirs = counts_of_copy(from.domain, line);
                ++theirs[cache_to_cache_transfers_supplied];
                if (load) ++theirs[probe_responses_clean];
            }
            transferred = true;
        } else {
            ready = from_dram(c, line, start);
        }
        if (!load && (others || d.llcs != 0))
            ready = std::max(ready, start + from_shared[farthest(c.llc, have, d.llcs)]);
    }

    if (!load) {
        if (others || transferred) keep_busy(line, ready);
        take_from_others<many>(c, line, d);
        granted = modified;
        if (Asked<kind>::llc_includes(machine_)) llc_insert<kind>(c.llc, line);
        return ready;
    }
    if (!others && other_llcs == 0) {
        // Nobody else. The line moves up with the duty to write it back, which an inclusive LLC
        // keeps until the core has written it anew.
        granted = exclusive;
        if (!Asked<kind>::llc_includes(machine_)) {
            if (d.dirty_llc_plus_one != 0) granted = modified;
            d.dirty_llc_plus_one = 0;
            if (hit) llc_remove(c.llc, line);
        }
        d.owner_plus_one = static_cast<std::uint16_t>(c.domain + 1);
    } else {
        granted = shared;
        if (hit) llc_touch(c.llc, line);
    }
    have.add(c.domain);
    if (Asked<kind>::llc_includes(machine_)) llc_insert<kind>(c.llc, line);
    return ready;
}

template <MachineKind kind>
[[gnu::noinline]] Ticks Memory::fetch(PrivateCaches& c, Line line, Request request, Ticks now,
                                      Word& granted, bool& contended) {
    if constexpr (Asked<kind>::known)
        return fetch_line<kind, false>(c, line, request, now, granted, contended);
    return more_words_ == 0 ? fetch_line<kind, false>(c, line, request, now, granted, contended)
                            : fetch_line<kind, true>(c, line, request, now, granted, contended);
}

}  // namespace autofinity::sim
