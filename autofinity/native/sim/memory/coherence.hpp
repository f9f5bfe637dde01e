// Coherence: directory transactions over all caches. They decide which cache gets a line, from
// which, and which caches lose it.
//
// Every transition of a line is a transaction, so at any instant (checked by invariants.cpp):
//  · at most one L2 domain owns a line (M, E or O), and M or E means that no other domain has it;
//    within the domain, M or E in an L1 means that no other L1 has it;
//  · a dirty line has one place that must write it back: its owner or one LLC (`dirty_llc`);
//  · the directory knows exactly who holds what; a finite one (probe filter) has an entry at the
//    home node for each line that anybody holds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "bits.hpp"
#include "hierarchy.hpp"
#include "machine_kind.hpp"
#include "sharers.hpp"
#include "sim/machine.hpp"
#include "sim/program/program.hpp"
#include "sim/types.hpp"
#include "under_way.hpp"

namespace autofinity::sim {

enum class Request : std::uint8_t { load, store, atomic };

class Coherence {
  public:
    Coherence(const MachineModel& machine, const Program& program, PageSettings page_settings,
              std::uint64_t seed, std::uint32_t most_cores)
        : hierarchy_(machine, program, std::move(page_settings), seed, most_cores) {}

    Hierarchy& hierarchy() { return hierarchy_; }
    const Hierarchy& hierarchy() const { return hierarchy_; }

    // A core whose domain does not have the line asks for it at `now`. Returns the time when the
    // line is there, in the state `granted`; no array has it yet. `contended` is set where the line
    // was on its way to another core.
    template <MachineKind kind>
    Ticks fetch(PrivateCaches& c, Line line, Request request, Ticks now, Word& granted,
                bool& contended, UnderWay& w);
    // The same, compiled into the caller, for lines of at most 64 sharers or of more.
    template <MachineKind kind, bool many>
    Ticks fetch_line(PrivateCaches& c, Line line, Request request, Ticks now, Word& granted,
                     bool& contended, UnderWay& w);
    // A core that has the line requests to write it; returns the time when it may. `contended` as
    // above.
    Ticks upgrade(PrivateCaches& c, Line line, bool atomic, Ticks now, bool& contended,
                  UnderWay& w);
    // Leaves the state as if a core had got the line, to write it or to read it, and had lost it to
    // its LLC since. Returns false, without a change, where that would involve an owner or take
    // copies away, or where the core's domain has the line.
    bool leave_in_llc(const PrivateCaches& c, Line line, bool written, UnderWay& w);

  private:
    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
    struct Supplier {
        std::uint32_t llc;     // nowhere: nobody supplies the line
        std::uint32_t domain;  // nowhere: the LLC itself
    };

    template <bool many>
    std::uint32_t farthest(std::uint32_t llc, SharersOf<many> have, std::uint32_t llcs) const;
    template <bool many>
    Supplier nearest(std::uint32_t llc, SharersOf<many> have, std::uint32_t llcs,
                     std::uint32_t agent) const;
    template <bool many>
    Supplier supplier_of_clean(std::uint32_t llc, SharersOf<many> have,
                               const DirectoryLine& d) const;
    template <bool many>
    Supplier supplier_beside(std::uint32_t llc, SharersOf<many> have, const DirectoryLine& d) const;
    // Whether LLCs at a distance are of one socket.
    static bool in_one_socket(std::uint32_t distance) { return distance <= 1; }
    // Whether two LLCs are of one agent, of which one at most has a line in state F: the socket of
    // MESIF, the LLC of MOESI.
    bool of_one_agent(std::uint32_t llc, std::uint32_t other) const {
        const bool sockets = hierarchy_.machine.clean_forwarding && !hierarchy_.machine.owned_state;
        return hierarchy_.interconnect.distance(llc, other) <= (sockets ? 1u : 0u);
    }
    template <bool many>
    void take_from_others(const PrivateCaches& c, Line line, DirectoryLine& d, UnderWay& w);
    template <bool many>
    Ticks upgrade_line(PrivateCaches& c, Line line, bool atomic, Ticks now, bool& contended,
                       UnderWay& w);
    // A line comes from a cache of an LLC's domain; returns how long it has to wait.
    Ticks transfer(const PrivateCaches& c, std::uint32_t from_llc, Ticks now, UnderWay& w) {
        const std::uint32_t away = hierarchy_.interconnect.distance(c.llc, from_llc);
        w.supplied = static_cast<std::uint8_t>(away + 1);
        return hierarchy_.interconnect.transfer(from_llc, c.llc, c.node, away, now, *w.counts);
    }

    Hierarchy hierarchy_;
};

template <bool many>
std::uint32_t Coherence::farthest(std::uint32_t llc, SharersOf<many> have,
                                  std::uint32_t llcs) const {
    std::uint32_t most = 0;
    have.each([&](auto other) {
        most = std::max(most,
                        hierarchy_.interconnect.distance(llc, hierarchy_.cores.domain(other).llc));
    });
    each_bit(llcs, [&](auto other) {
        most = std::max(most, hierarchy_.interconnect.distance(llc, other));
    });
    return most;
}

// Among the LLCs and L2s of an agent that have a line, the nearest one to `llc`; at the same
// distance the LLC. The agent is named by one of its LLCs.
template <bool many>
Coherence::Supplier Coherence::nearest(std::uint32_t llc, SharersOf<many> have, std::uint32_t llcs,
                                       std::uint32_t agent) const {
    Supplier best{nowhere, nowhere};
    std::uint32_t least = max_distances;
    const auto offer = [&](std::uint32_t from, std::uint32_t domain) {
        if (of_one_agent(agent, from) && hierarchy_.interconnect.distance(llc, from) < least) {
            least = hierarchy_.interconnect.distance(llc, from);
            best = {from, domain};
        }
    };
    each_bit(llcs, [&](auto other) { offer(other, nowhere); });
    have.each([&](auto other) { offer(hierarchy_.cores.domain(other).llc, other); });
    return best;
}

// Cache that supplies a line that memory has, too: one of the LLC's own agent, or else of the agent
// that has the line in state F, which is the last one that got it (MESIF). Other copies answer
// nobody: an idle socket supplies a line that it keeps only once.
template <bool many>
Coherence::Supplier Coherence::supplier_of_clean(std::uint32_t llc, SharersOf<many> have,
                                                 const DirectoryLine& d) const {
    const Supplier inside = nearest(llc, have, d.llcs, llc);
    if (inside.llc != nowhere || !hierarchy_.machine.clean_forwarding || d.forwarder_plus_one == 0)
        return inside;
    return nearest(llc, have, d.llcs, d.forwarder_plus_one - 1u);
}

// Cache of the LLC's own domain that supplies a line whose dirty copy is elsewhere: what an owner
// in state O, or a dirty LLC, has given to a core of the domain before.
template <bool many>
Coherence::Supplier Coherence::supplier_beside(std::uint32_t llc, SharersOf<many> have,
                                               const DirectoryLine& d) const {
    const Supplier none{nowhere, nowhere};
    if (!hierarchy_.machine.owned_state) return none;
    const std::uint32_t dirty_in = d.owner_plus_one != 0
                                       ? hierarchy_.cores.domain(d.owner_plus_one - 1u).llc
                                       : d.dirty_llc_plus_one - 1u;
    const bool one_beside = have.any_of(hierarchy_.cores.domains_of_llc(llc));
    return dirty_in == llc || !one_beside ? none : nearest(llc, have, 0, llc);
}

// Invalidates every copy but that of the requester's own domain.
template <bool many>
[[gnu::noinline]] void Coherence::take_from_others(const PrivateCaches& c, Line line,
                                                   DirectoryLine& d, UnderWay& w) {
    Counts& n = *w.counts;
    const std::uint32_t home = hierarchy_.pages.home(line);
    SharersOf<many> have = hierarchy_.directory.sharers<many>(line, d);
    have.each([&](auto other) {
        if (other == c.domain) return;
        L2Domain& o = hierarchy_.cores.domain(other);
        Counts& theirs = o.counts_of_copy(line);
        o.each_copy(line, [&](PrivateCaches& copy) {
            ++n[invalidations_sent];
            ++(*copy.counts)[invalidations_received];
        });
        const Word had = o.drop(line);
        ++theirs[is_dirty(had) ? probe_responses_dirty : probe_responses_clean];
        o.tell_lost(line, false, w);
        hierarchy_.interconnect.signal(home, o.node, n);
        hierarchy_.interconnect.signal(o.node, c.node, n);
    });
    const std::uint32_t own = hierarchy_.machine.llc_inclusive ? 1u << c.llc : 0;
    each_bit(d.llcs & ~own, [&](auto llc) { hierarchy_.take_from_llc(llc, line); });
    have.clear();
    have.add(c.domain);
    d.owner_plus_one = static_cast<std::uint16_t>(c.domain + 1);
    d.dirty_llc_plus_one = 0;
    d.forwarder_plus_one = static_cast<std::uint8_t>(c.llc + 1);
}

template <MachineKind kind, bool many>
[[gnu::always_inline]] inline Ticks Coherence::fetch_line(PrivateCaches& c, Line line,
                                                          Request request, Ticks now, Word& granted,
                                                          bool& contended, UnderWay& w) {
    Hierarchy& h = hierarchy_;
    Counts& n = *w.counts;
    DirectoryLine& d = h.directory[line];
    const std::uint32_t llc = h.llc_for<kind>(c.llc, line);
    const std::uint32_t own_llc = 1u << llc;
    const bool load = request == Request::load;
    ++n[llc_requests];
    ++n[load ? llc_read_requests : llc_modify_requests];
    ++(load ? h.llcs.requests(llc).reads : h.llcs.requests(llc).modifies);
    SharersOf<many> have = h.directory.sharers<many>(line, d);  // the core itself does not
    const bool others = !have.none();
    const bool unheld = !others && d.llcs == 0;
    if (Asked<kind>::limits_directory(h.machine)) h.into_filter(line, !unheld, w);

    const Ticks start = h.busy.wait(line, now);
    contended |= start != now;
    const std::uint32_t home = h.pages.home(line);
    if (unheld) {
        ++n[llc_misses];
        h.interconnect.signal(c.node, home, n);
        const Ticks ready = h.interconnect.from_dram(home, c.llc, c.node, start, n);
        h.arriving.keep(line, ready);
        have.add(c.domain);
        d.owner_plus_one = static_cast<std::uint16_t>(c.domain + 1);
        d.forwarder_plus_one = static_cast<std::uint8_t>(c.llc + 1);
        granted = load ? exclusive : modified;
        if (Asked<kind>::llc_includes(h.machine)) h.into_llc<kind>(llc, line, w);
        return ready;
    }
    const auto& from_modified = load                        ? h.machine.load_modified
                                : request == Request::store ? h.machine.store_modified
                                                            : h.machine.atomic_modified;
    const auto& from_shared = load                        ? h.machine.load_shared
                              : request == Request::store ? h.machine.store_shared
                                                          : h.machine.atomic_shared;
    const std::uint32_t other_llcs = d.llcs & ~own_llc;
    const bool hit = (d.llcs & own_llc) != 0;
    ++n[hit ? llc_hits : llc_misses];
    if (!hit) h.interconnect.signal(c.node, home, n);
    Ticks ready;
    bool transferred = false;
    std::uint32_t source = hit ? llc : nowhere;
    // No cache gives a line that memory has not sent yet.
    const Ticks arrived = h.arriving.wait(line, start);

    // An owner has given away the line that the LLC has, unless the owner is below an inclusive
    // LLC.
    const bool llc_has = hit && (!Asked<kind>::llc_includes(h.machine) || d.owner_plus_one == 0 ||
                                 h.cores.domain(d.owner_plus_one - 1u).llc != c.llc);
    const bool owned_by_one = d.owner_plus_one != 0 || d.dirty_llc_plus_one != 0;
    const Supplier beside = load && others && owned_by_one && !llc_has
                                ? supplier_beside<many>(c.llc, have, d)
                                : Supplier{nowhere, nowhere};

    if (llc_has) {
        ready = start + h.interconnect.from_llc(llc, c.llc, c.node, start, n);
        if (!load && (others || other_llcs != 0))
            ready = std::max(ready, start + from_shared[farthest(c.llc, have, other_llcs)]);
    } else if (d.owner_plus_one != 0 && beside.llc == nowhere) {
        const std::uint32_t owner = d.owner_plus_one - 1u;
        L2Domain& o = h.cores.domain(owner);
        Counts& theirs = o.counts_of_copy(line);
        if (load) h.interconnect.signal(home, o.node, n);
        const Word had = o.state(line);
        const std::uint32_t away =
            load ? h.interconnect.distance(c.llc, o.llc) : farthest(c.llc, have, other_llcs);
        ready = start + (had == owned || have.several() ? from_shared : from_modified)[away];
        ready += transfer(c, o.llc, start, w);
        source = o.llc;
        ++theirs[cache_to_cache_transfers_supplied];
        transferred = true;
        if (load) {
            ++theirs[is_dirty(had) ? probe_responses_dirty : probe_responses_clean];
            granted = shared;
            if (had != owned) {
                ++theirs[downgrades_received];
                o.tell_lost(line, true, w);
                h.busy.keep(line, std::max(ready, arrived));
                if (had == modified && h.machine.owned_state) {
                    o.set_state(line, owned);
                    d.dirty_llc_plus_one = 0;
                } else {
                    o.set_state(line, shared);
                    d.owner_plus_one = 0;
                    if (had == modified) {
                        // A line that stays in the socket goes to memory when its LLC loses it.
                        const std::uint32_t to = h.llc_for<kind>(o.llc, line);
                        if (Asked<kind>::llc_includes(h.machine)) {
                            d.dirty_llc_plus_one = static_cast<std::uint8_t>(to + 1);
                        } else if (in_one_socket(away)) {
                            d.dirty_llc_plus_one = static_cast<std::uint8_t>(to + 1);
                            if (to != o.llc) h.interconnect.to_llc(to, o.llc, o.node, start, n);
                            h.into_llc<kind>(to, line, w);
                        } else {
                            h.write_dram(o.llc, o.node, line, w);
                        }
                    }
                }
            }
        }
    } else if (d.dirty_llc_plus_one != 0 && beside.llc == nowhere) {
        const std::uint32_t from = d.dirty_llc_plus_one - 1u;
        const std::uint32_t away =
            load ? h.interconnect.distance(c.llc, from) : farthest(c.llc, have, d.llcs);
        ready = start + (others ? from_shared : from_modified)[away];
        ready += transfer(c, from, start, w);
        source = from;
        transferred = true;
        if (load && !h.machine.owned_state &&
            (Asked<kind>::llc_includes(h.machine) || !in_one_socket(away))) {
            h.write_dram(from, h.interconnect.node_of_llc(from), line, w);
            d.dirty_llc_plus_one = 0;
        }
    } else {
        const Supplier from = owned_by_one ? beside : supplier_of_clean(c.llc, have, d);
        source = from.llc;
        if (from.llc != nowhere) {
            ready = start + h.machine.load_shared[h.interconnect.distance(c.llc, from.llc)];
            ready += transfer(c, from.llc, start, w);
            if (from.domain != nowhere) {
                Counts& theirs = h.cores.domain(from.domain).counts_of_copy(line);
                ++theirs[cache_to_cache_transfers_supplied];
                if (load) ++theirs[probe_responses_clean];
            }
            transferred = true;
        } else {
            ready = h.interconnect.from_dram(home, c.llc, c.node, start, n);
            h.arriving.keep(line, ready);
        }
        if (!load && (others || d.llcs != 0))
            ready = std::max(ready, start + from_shared[farthest(c.llc, have, d.llcs)]);
    }
    ready = std::max(ready, arrived);

    if (!load) {
        if (others || transferred) h.busy.keep(line, ready);
        take_from_others<many>(c, line, d, w);
        granted = modified;
        if (Asked<kind>::llc_includes(h.machine)) h.into_llc<kind>(llc, line, w);
        return ready;
    }
    if (!others && other_llcs == 0) {
        // No other copy. The line moves up with the duty to write it back, which an inclusive LLC
        // keeps until the core has written it again.
        granted = exclusive;
        if (!Asked<kind>::llc_includes(h.machine)) {
            if (d.dirty_llc_plus_one != 0) granted = modified;
            d.dirty_llc_plus_one = 0;
            if (hit) h.take_from_llc(llc, line);
        }
        d.owner_plus_one = static_cast<std::uint16_t>(c.domain + 1);
    } else {
        granted = shared;
        // An LLC that is a victim cache keeps a line where more than one of its cores uses it.
        if (hit) {
            const bool keeps = Asked<kind>::llc_includes(h.machine) ||
                               d.dirty_llc_plus_one == llc + 1 ||
                               have.any_of(h.cores.domains_of_llc(llc));
            keeps ? h.touch_in_llc(llc, line) : h.take_from_llc(llc, line);
        }
    }
    if (source == nowhere || !of_one_agent(c.llc, source))
        d.forwarder_plus_one = static_cast<std::uint8_t>(c.llc + 1);
    have.add(c.domain);
    if (Asked<kind>::llc_includes(h.machine)) h.into_llc<kind>(llc, line, w);
    return ready;
}

template <MachineKind kind>
[[gnu::noinline]] Ticks Coherence::fetch(PrivateCaches& c, Line line, Request request, Ticks now,
                                         Word& granted, bool& contended, UnderWay& w) {
    if constexpr (Asked<kind>::known)
        return fetch_line<kind, false>(c, line, request, now, granted, contended, w);
    return hierarchy_.directory.more_words() == 0
               ? fetch_line<kind, false>(c, line, request, now, granted, contended, w)
               : fetch_line<kind, true>(c, line, request, now, granted, contended, w);
}

}  // namespace autofinity::sim
