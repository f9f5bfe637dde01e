#include "memory.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "error.hpp"

namespace autofinity::sim {
namespace {

constexpr std::uint64_t bytes_on_link = 72;  // a line and its header

template <typename Visit>
void each_bit(std::uint64_t bits, Visit&& visit) {
    for (; bits != 0; bits &= bits - 1) visit(static_cast<std::uint32_t>(std::countr_zero(bits)));
}

}  // namespace

Memory::Memory(const Machine& machine, const Program& program, Placement placement,
               std::uint64_t seed)
    : machine_(machine),
      program_(program),
      pages_(program, std::move(placement), machine.nodes, seed),
      directory_(program.n_lines),
      slot_of_core_(machine.llc_of_core.size(), -1),
      slots_of_llc_(machine.llcs, 0),
      node_of_llc_(machine.llcs, 0),
      any_core_(machine.llcs),
      controllers_(machine.nodes),
      links_(std::size_t{machine.nodes} * machine.nodes),
      fabrics_(machine.llcs) {
    for (std::uint32_t llc = 0; llc < machine.llcs; ++llc)
        llcs_.push_back(std::make_unique<Sets>(machine.llc.sets, machine.llc.ways));
    for (std::size_t core = machine.llc_of_core.size(); core-- > 0;)
        node_of_llc_[machine.llc_of_core[core]] = machine.node_of_core[core];
    lost_.reserve(max_cores_in_use);
}

std::uint32_t Memory::slot_of(std::uint32_t core) {
    if (slot_of_core_[core] < 0) {
        if (cores_.size() == max_cores_in_use)
            throw SimulationError("more than " + std::to_string(max_cores_in_use) +
                                  " cores in one simulation; place the threads on fewer");
        slot_of_core_[core] = static_cast<std::int32_t>(cores_.size());
        cores_.push_back(std::make_unique<PrivateCaches>(machine_, core, program_.n_pages()));
        cores_.back()->counts = &nobody_;
        slots_of_llc_[machine_.llc_of_core[core]] |= std::uint64_t{1} << (cores_.size() - 1);
    }
    return static_cast<std::uint32_t>(slot_of_core_[core]);
}

std::uint32_t Memory::farthest(std::uint32_t llc, std::uint64_t slots, std::uint32_t llcs) const {
    std::uint32_t most = 0;
    each_bit(slots, [&](auto slot) { most = std::max(most, distance(llc, cores_[slot]->llc)); });
    each_bit(llcs, [&](auto other) { most = std::max(most, distance(llc, other)); });
    return most;
}

std::uint32_t Memory::nearest(std::uint32_t llc, std::uint64_t slots, std::uint32_t llcs) const {
    std::uint32_t least = n_distances;
    each_bit(slots, [&](auto slot) { least = std::min(least, distance(llc, cores_[slot]->llc)); });
    each_bit(llcs, [&](auto other) { least = std::min(least, distance(llc, other)); });
    return least;
}

// ---- translation and pages ----------------------------------------------------------------------

Ticks Memory::translate(PrivateCaches& c, std::uint32_t page) {
    if (c.tlb1.touch(page)) return 0;
    Counts& n = *c.counts;
    ++n[dtlb_misses];
    Ticks cost = 0;
    if (!pages_.mapped(page)) {
        ++n[page_faults];
        pages_.map(page, c.node);
        cost += machine_.page_fault;
    }
    Word* set = c.tlb2.at(page);
    const int way = c.tlb2.find(set, page);
    cost += machine_.tlb2_hit;
    if (way >= 0) {
        ++n[l2_tlb_hits];
        to_front(set, way, set[way]);
    } else {
        ++n[page_walks];
        cost += machine_.page_walk;
        c.tlb2.insert(set, word_of(page, shared));
    }
    c.tlb1.insert(page);
    return cost;
}

Ticks Memory::move_page(std::uint32_t page, std::uint32_t node, Ticks now) {
    if (!pages_.mapped(page) || pages_.node(page) == node) return 0;
    now_ = now;
    counts_ = &nobody_;
    const std::uint32_t from = pages_.node(page);
    Ticks ready = now;
    for (Line line = page << page_shift; line < (page + 1) << page_shift; ++line) {
        DirectoryLine& d = directory_[line];
        each_bit(d.sharers, [&](auto slot) {
            drop_private(slot, line);
            lost_.push_back({slot, line, false});
        });
        each_bit(d.llcs, [&](auto llc) { llc_remove(llc, line); });
        d = DirectoryLine{};
        const Ticks read = now + controllers_[from].take(now, machine_.memory_service);
        const Ticks sent = read + cross(from, node, read, nobody_);
        ready = std::max(ready, sent + controllers_[node].take(sent, machine_.memory_service));
    }
    for (auto& core : cores_) {
        core->tlb1.forget(page);
        Word* set = core->tlb2.at(page);
        if (const int way = core->tlb2.find(set, page); way >= 0) core->tlb2.remove(set, way);
    }
    pages_.place(page, node);
    return ready - now + machine_.dram[0];
}

// ---- private caches -----------------------------------------------------------------------------

bool Memory::stays_private(PrivateCaches& c, const Step& step) {
    Word* set1 = c.l1.at(step.line);
    Word* set2 = c.l2.at(pages_.physical(step.line));
    const int way1 = c.l1.find(set1, step.line);
    Word state = way1 >= 0 ? state_of(set1[way1]) : Word{invalid};
    if (state == invalid) {
        const int way2 = c.l2.find(set2, step.line);
        if (way2 < 0) return false;
        state = state_of(set2[way2]);
        if (machine_.l2_exclusive) {
            // The L1 victim needs room in its own L2 set.
            bool room = false;
            for (std::uint32_t way = 0; way < c.l1.ways(); ++way)
                room |= state_of(set1[way]) == invalid;
            if (!room) {
                Word* target = c.l2.at(pages_.physical(line_of(set1[c.l1.ways() - 1])));
                if (target != set2 && c.l2.full(target)) return false;
            }
        }
    }
    return step.writes == 0 || state == exclusive || state == modified;
}

Word Memory::private_state(PrivateCaches& c, Line line) {
    const Word* set1 = c.l1.at(line);
    if (const int way = c.l1.find(set1, line); way >= 0 && state_of(set1[way]) != invalid)
        return state_of(set1[way]);
    const Word* set2 = c.l2.at(pages_.physical(line));
    const int way = c.l2.find(set2, line);
    return way >= 0 ? state_of(set2[way]) : Word{invalid};
}

void Memory::set_private_state(PrivateCaches& c, Line line, Word state) {
    Word* set1 = c.l1.at(line);
    if (const int way = c.l1.find(set1, line); way >= 0 && state_of(set1[way]) != invalid)
        set1[way] = word_of(line, state);
    Word* set2 = c.l2.at(pages_.physical(line));
    if (const int way = c.l2.find(set2, line); way >= 0) set2[way] = word_of(line, state);
}

// Takes the line away; the L1 keeps the tag, so that the next miss is known for what it is.
Word Memory::drop_private(std::uint32_t slot, Line line) {
    PrivateCaches& c = *cores_[slot];
    Word state = invalid;
    Word* set2 = c.l2.at(pages_.physical(line));
    if (const int way = c.l2.find(set2, line); way >= 0) state = state_of(c.l2.remove(set2, way));
    Word* set1 = c.l1.at(line);
    if (const int way = c.l1.find(set1, line); way >= 0 && state_of(set1[way]) != invalid) {
        state = state_of(set1[way]);
        set1[way] = word_of(line, invalid);
    }
    return state;
}

void Memory::fill_l1(std::uint32_t slot, Line line, Word state) {
    PrivateCaches& c = *cores_[slot];
    Counts& n = *counts_;
    Word* set = c.l1.at(line);
    int victim = c.l1.find(set, line);  // the tag of a line that was taken away
    for (int way = static_cast<int>(c.l1.ways()) - 1; victim < 0 && way >= 0; --way)
        if (state_of(set[way]) == invalid) victim = way;
    if (victim < 0) victim = static_cast<int>(c.l1.ways()) - 1;
    const Word old = set[victim];
    to_front(set, victim, word_of(line, state));
    if (old == 0) return;
    const Word old_state = state_of(old);
    if (old_state == invalid) {
        ++n[invalid_data_cache_lines_evicted];
        return;
    }
    ++n[is_dirty(old_state) ? modified_data_cache_lines_evicted : clean_data_cache_lines_evicted];
    Word* set2 = c.l2.at(pages_.physical(line_of(old)));
    if (machine_.l2_exclusive) {
        if (const Word out = c.l2.insert(set2, old); out != 0) leave_private(slot, out);
    } else if (is_dirty(old_state)) {
        if (const int way = c.l2.find(set2, line_of(old)); way >= 0) set2[way] = old;
    }
}

void Memory::fill(std::uint32_t slot, Line line, Word state) {
    if (!machine_.l2_exclusive) {
        PrivateCaches& c = *cores_[slot];
        Word out = c.l2.insert(c.l2.at(pages_.physical(line)), word_of(line, state));
        if (out != 0) {
            Word* set1 = c.l1.at(line_of(out));
            if (const int way = c.l1.find(set1, line_of(out)); way >= 0) {
                if (state_of(set1[way]) != invalid) out = set1[way];
                set1[way] = 0;
            }
            leave_private(slot, out);
        }
    }
    fill_l1(slot, line, state);
}

void Memory::leave_private(std::uint32_t slot, Word word) {
    const Line line = line_of(word);
    const bool dirty = is_dirty(state_of(word));
    const std::uint32_t llc = cores_[slot]->llc;
    DirectoryLine& d = directory_[line];
    ++(*counts_)[l2_evictions];
    if (dirty) ++(*counts_)[l2_writebacks];
    d.sharers &= ~(std::uint64_t{1} << slot);
    if (d.owner_plus_one == slot + 1) d.owner_plus_one = 0;
    if (!machine_.llc_inclusive) llc_insert(llc, line);
    if (dirty) d.dirty_llc_plus_one = static_cast<std::uint8_t>(llc + 1);
}

// ---- last-level caches --------------------------------------------------------------------------

void Memory::llc_touch(std::uint32_t llc, Line line) {
    Word* set = llcs_[llc]->at(pages_.physical(line));
    const int way = llcs_[llc]->find(set, line);
    to_front(set, way, set[way]);
}

void Memory::llc_insert(std::uint32_t llc, Line line) {
    DirectoryLine& d = directory_[line];
    const std::uint32_t bit = 1u << llc;
    if ((d.llcs & bit) != 0) {
        llc_touch(llc, line);
        return;
    }
    d.llcs |= bit;
    Word* set = llcs_[llc]->at(pages_.physical(line));
    if (const Word out = llcs_[llc]->insert(set, word_of(line, shared)); out != 0)
        llc_evict(llc, line_of(out));
}

void Memory::llc_remove(std::uint32_t llc, Line line) {
    Word* set = llcs_[llc]->at(pages_.physical(line));
    if (const int way = llcs_[llc]->find(set, line); way >= 0) llcs_[llc]->remove(set, way);
    directory_[line].llcs &= ~(1u << llc);
}

// The array has dropped the line already; the directory and the cores learn of it here.
void Memory::llc_evict(std::uint32_t llc, Line line) {
    DirectoryLine& d = directory_[line];
    Counts& n = *counts_;
    ++n[llc_evictions];
    d.llcs &= ~(1u << llc);
    bool dirty = d.dirty_llc_plus_one == llc + 1;
    if (dirty) d.dirty_llc_plus_one = 0;
    if (machine_.llc_inclusive) {
        const std::uint64_t inside = d.sharers & slots_of_llc_[llc];
        each_bit(inside, [&](auto slot) {
            dirty |= is_dirty(drop_private(slot, line));
            lost_.push_back({slot, line, false});
            if (d.owner_plus_one == slot + 1) d.owner_plus_one = 0;
        });
        d.sharers &= ~inside;
    }
    if (dirty) {
        ++n[llc_writebacks];
        write_dram(node_of_llc_[llc], line);
    }
}

// ---- traffic ------------------------------------------------------------------------------------

Ticks Memory::cross(std::uint32_t from_node, std::uint32_t to_node, Ticks now, Counts& n) {
    if (from_node == to_node) return 0;
    n[link_bytes] += bytes_on_link;
    const Ticks service =
        machine_.link_service[machine_.node_distance[from_node * machine_.nodes + to_node]];
    if (service == 0) return 0;
    const Ticks wait = links_[from_node * machine_.nodes + to_node].take(now, service);
    n[link_queue_clocks] += clocks(wait);
    return wait;
}

void Memory::write_dram(std::uint32_t from_node, Line line) {
    Counts& n = *counts_;
    ++n[dram_writes];
    const std::uint32_t home = pages_.node(line >> page_shift);
    cross(from_node, home, now_, n);
    controllers_[home].take(now_, machine_.memory_service);
}

Ticks Memory::from_dram(PrivateCaches& c, Line line, Ticks now) {
    Counts& n = *counts_;
    const std::uint32_t home = pages_.node(line >> page_shift);
    const std::uint32_t away = machine_.node_distance[c.node * machine_.nodes + home];
    ++n[home == c.node ? dram_reads_local : dram_reads_remote];
    Ticks wait = controllers_[home].take(now, machine_.memory_service);
    n[memory_queue_clocks] += clocks(wait);
    wait += cross(home, c.node, now + wait, n);
    if (machine_.fabric_service != 0)
        wait += fabrics_[c.llc].take(now + wait, machine_.fabric_service);
    return now + wait + machine_.dram[away];
}

void Memory::count_transfer(PrivateCaches& c, std::uint32_t from_llc) {
    const std::uint32_t away = distance(c.llc, from_llc);
    ++(*counts_)[away == 0   ? cache_to_cache_transfers_same_llc
                 : away == 1 ? cache_to_cache_transfers_same_package
                             : cache_to_cache_transfers_remote];
}

// ---- directory transactions ---------------------------------------------------------------------

// Invalidates every copy but the requester's own private one.
void Memory::take_from_others(std::uint32_t slot, Line line, DirectoryLine& d) {
    Counts& n = *counts_;
    each_bit(d.sharers & ~(std::uint64_t{1} << slot), [&](auto other) {
        const Word had = drop_private(other, line);
        Counts& theirs = *cores_[other]->counts;
        ++n[invalidations_sent];
        ++theirs[invalidations_received];
        ++theirs[is_dirty(had) ? probe_responses_dirty : probe_responses_clean];
        lost_.push_back({other, line, false});
    });
    const std::uint32_t own = machine_.llc_inclusive ? 1u << cores_[slot]->llc : 0;
    each_bit(d.llcs & ~own, [&](auto llc) { llc_remove(llc, line); });
    d.sharers = std::uint64_t{1} << slot;
    d.owner_plus_one = static_cast<std::uint8_t>(slot + 1);
    d.dirty_llc_plus_one = 0;
}

Ticks Memory::upgrade(std::uint32_t slot, Line line, bool atomic, Ticks now, bool& contended) {
    PrivateCaches& c = *cores_[slot];
    Counts& n = *counts_;
    DirectoryLine& d = directory_[line];
    ++n[upgrades];
    ++n[llc_requests];
    ++n[llc_modify_requests];
    ++any_core_[c.llc].modifies;
    const Ticks start = wait_for_line(line, now);
    const std::uint64_t others = d.sharers & ~(std::uint64_t{1} << slot);
    Ticks ready = start;
    if (others != 0 || (d.llcs & ~(1u << c.llc)) != 0) {
        const std::uint32_t away = farthest(c.llc, others, d.llcs);
        ready += (atomic ? machine_.atomic_shared : machine_.store_shared)[away];
    } else {
        // Nobody to tell but the home node.
        const std::uint32_t home = pages_.node(line >> page_shift);
        ready += machine_.store_modified[machine_.node_distance[c.node * machine_.nodes + home]];
    }
    contended |= others != 0;
    take_from_others(slot, line, d);
    set_private_state(c, line, modified);
    if (others != 0) keep_busy(line, ready);
    return ready;
}

Ticks Memory::fetch(std::uint32_t slot, Line line, Request request, Ticks now, Word& granted,
                    bool& contended) {
    PrivateCaches& c = *cores_[slot];
    Counts& n = *counts_;
    DirectoryLine& d = directory_[line];
    const std::uint64_t me = std::uint64_t{1} << slot;
    const std::uint32_t own_llc = 1u << c.llc;
    const bool load = request == Request::load;
    ++n[llc_requests];
    ++n[load ? llc_read_requests : llc_modify_requests];
    ++(load ? any_core_[c.llc].reads : any_core_[c.llc].modifies);

    const Ticks start = wait_for_line(line, now);
    contended |= start != now;
    const auto& from_modified = load                        ? machine_.load_modified
                                : request == Request::store ? machine_.store_modified
                                                            : machine_.atomic_modified;
    const auto& from_shared = load                        ? machine_.load_shared
                              : request == Request::store ? machine_.store_shared
                                                          : machine_.atomic_shared;
    const std::uint64_t others = d.sharers;
    const std::uint32_t other_llcs = d.llcs & ~own_llc;
    const bool hit = (d.llcs & own_llc) != 0;
    ++n[hit ? llc_hits : llc_misses];
    Ticks ready;
    bool transferred = false;

    if (d.owner_plus_one != 0) {
        // The owner has the only valid data.
        const std::uint32_t owner = d.owner_plus_one - 1u;
        PrivateCaches& o = *cores_[owner];
        const Word had = private_state(o, line);
        const bool more = (others & (others - 1)) != 0;
        const std::uint32_t away =
            load ? distance(c.llc, o.llc) : farthest(c.llc, others, other_llcs);
        ready = start + (had == owned || more ? from_shared : from_modified)[away];
        const Ticks wait = cross(o.node, c.node, start, n);
        ready += wait;
        if (o.llc != c.llc && machine_.fabric_service != 0)
            ready += fabrics_[c.llc].take(start + wait, machine_.fabric_service);
        count_transfer(c, o.llc);
        ++(*o.counts)[cache_to_cache_transfers_supplied];
        transferred = true;
        if (load) {
            ++(*o.counts)[is_dirty(had) ? probe_responses_dirty : probe_responses_clean];
            granted = shared;
            if (had != owned) {
                ++(*o.counts)[downgrades_received];
                lost_.push_back({owner, line, true});
                keep_busy(line, ready);
                if (had == modified && machine_.owned_state) {
                    set_private_state(o, line, owned);
                } else {
                    set_private_state(o, line, shared);
                    d.owner_plus_one = 0;
                    if (had == modified) {
                        if (machine_.llc_inclusive)
                            d.dirty_llc_plus_one = static_cast<std::uint8_t>(o.llc + 1);
                        else
                            write_dram(o.node, line);
                    }
                }
            }
        }
    } else if (hit) {
        ready = start + machine_.llc_hit;
        if (!load && (others != 0 || other_llcs != 0))
            ready = std::max(ready, start + from_shared[farthest(c.llc, others, other_llcs)]);
    } else if (d.dirty_llc_plus_one != 0) {
        const std::uint32_t from = d.dirty_llc_plus_one - 1u;
        const std::uint32_t away = load ? distance(c.llc, from) : farthest(c.llc, others, d.llcs);
        ready = start + (others != 0 ? from_shared : from_modified)[away];
        ready += cross(node_of_llc_[from], c.node, start, n);
        count_transfer(c, from);
        transferred = true;
        if (load && !machine_.owned_state) {
            write_dram(node_of_llc_[from], line);
            d.dirty_llc_plus_one = 0;
        }
    } else {
        const std::uint64_t near_slots =
            machine_.clean_forwarding ? others : others & slots_of_llc_[c.llc];
        const std::uint32_t near_llcs = machine_.clean_forwarding ? d.llcs : 0;
        if (near_slots != 0 || near_llcs != 0) {
            const std::uint32_t away = nearest(c.llc, near_slots, near_llcs);
            ready = start + machine_.load_shared[away];
            ++n[away == 0   ? cache_to_cache_transfers_same_llc
                : away == 1 ? cache_to_cache_transfers_same_package
                            : cache_to_cache_transfers_remote];
            transferred = true;
        } else {
            ready = from_dram(c, line, start);
        }
        if (!load && (others != 0 || d.llcs != 0))
            ready = std::max(ready, start + from_shared[farthest(c.llc, others, d.llcs)]);
    }

    if (!load) {
        if (others != 0 || transferred) keep_busy(line, ready);
        take_from_others(slot, line, d);
        granted = modified;
        if (machine_.llc_inclusive) llc_insert(c.llc, line);
        return ready;
    }
    if (others == 0 && other_llcs == 0) {
        // Nobody else: the line moves up, with the duty to write it back.
        granted = hit && d.dirty_llc_plus_one == c.llc + 1 ? modified : exclusive;
        d.dirty_llc_plus_one = 0;
        d.owner_plus_one = static_cast<std::uint8_t>(slot + 1);
        if (hit && !machine_.llc_inclusive) llc_remove(c.llc, line);
    } else {
        granted = shared;
        if (hit) llc_touch(c.llc, line);
    }
    d.sharers |= me;
    if (machine_.llc_inclusive) llc_insert(c.llc, line);
    return ready;
}

Served Memory::access(std::uint32_t slot, const Step& step, Ticks now) {
    PrivateCaches& c = *cores_[slot];
    Counts& n = *c.counts;
    counts_ = &n;
    now_ = now;
    const Line line = step.line;
    const bool atomic = (step.flags & step_atomic) != 0;
    const bool writes = step.writes != 0;
    const bool reads_first =
        step.reads != 0 && !(writes && (atomic || (step.flags & step_first_write) != 0));
    Served served{now, false};
    Word* set = c.l1.at(line);
    const int way = c.l1.find(set, line);
    Word state = way >= 0 ? state_of(set[way]) : Word{invalid};
    if (state != invalid) {
        to_front(set, way, set[way]);
    } else {
        if (way >= 0) {
            ++n[coherence_misses];
            served.contended = true;
        }
        ++n[data_cache_misses];
        ++n[l2_accesses];
        Word* set2 = c.l2.at(pages_.physical(line));
        if (const int way2 = c.l2.find(set2, line); way2 >= 0) {
            state = state_of(set2[way2]);
            ++n[data_cache_refills_from_l2];
            served.ready = now + machine_.l2_hit;
            if (machine_.l2_exclusive)
                c.l2.remove(set2, way2);
            else
                to_front(set2, way2, set2[way2]);
            fill_l1(slot, line, state);
        } else {
            ++n[l2_misses];
            ++n[data_cache_refills_from_northbridge];
            const Request request = reads_first ? Request::load
                                    : atomic    ? Request::atomic
                                                : Request::store;
            served.ready = fetch(slot, line, request, now, state, served.contended);
            fill(slot, line, state);
        }
    }
    if (!writes) return served;
    if (state == shared || state == owned) {
        served.ready = upgrade(slot, line, atomic, served.ready, served.contended);
    } else if (state == exclusive) {
        c.l1.at(line)[0] = word_of(line, modified);
    }
    return served;
}

// ---- invariants ---------------------------------------------------------------------------------

void Memory::check() const {
    const auto fail = [](Line line, const std::string& what) {
        throw SimulationError("broken invariant: line " + std::to_string(line) + ": " + what);
    };
    auto& self = const_cast<Memory&>(*this);  // lookups only
    // What the arrays hold must be what the directory says, and nothing more.
    std::vector<std::uint64_t> held(directory_.size(), 0);
    for (std::uint32_t slot = 0; slot < cores_.size(); ++slot) {
        PrivateCaches& c = *cores_[slot];
        const std::uint64_t bit = std::uint64_t{1} << slot;
        for (const bool level2 : {false, true})
            for (const Word word : (level2 ? c.l2 : c.l1).words()) {
                if (state_of(word) == invalid) continue;
                const Line line = line_of(word);
                const bool twice = (held[line] & bit) != 0;
                if (twice && machine_.l2_exclusive) fail(line, "in L1 and L2 of an exclusive pair");
                if (level2 && !machine_.l2_exclusive) continue;
                held[line] |= bit;
            }
        if (!machine_.l2_exclusive)
            for (const Word word : c.l2.words()) {
                if (word == 0) continue;
                held[line_of(word)] |= bit;
            }
        if (!machine_.l2_exclusive)
            for (const Word word : c.l1.words())
                if (state_of(word) != invalid &&
                    c.l2.find(c.l2.at(self.pages_.physical(line_of(word))), line_of(word)) < 0)
                    fail(line_of(word), "in L1 but not in the inclusive L2");
    }
    std::vector<std::uint32_t> in_llc(directory_.size(), 0);
    for (std::uint32_t llc = 0; llc < llcs_.size(); ++llc)
        for (const Word word : llcs_[llc]->words())
            if (word != 0) in_llc[line_of(word)] |= 1u << llc;
    for (Line line = 0; line < directory_.size(); ++line) {
        const DirectoryLine& d = directory_[line];
        if (held[line] != d.sharers) fail(line, "sharers of the directory are not who holds it");
        if (in_llc[line] != d.llcs) fail(line, "LLCs of the directory are not those that hold it");
        if (d.dirty_llc_plus_one != 0 && (d.llcs >> (d.dirty_llc_plus_one - 1) & 1) == 0)
            fail(line, "dirty in an LLC that does not hold it");
        if (d.dirty_llc_plus_one != 0 && d.owner_plus_one != 0)
            fail(line, "two places must write it back");
        each_bit(d.sharers, [&](auto slot) {
            const Word state = self.private_state(*self.cores_[slot], line);
            const bool owner = d.owner_plus_one == slot + 1;
            if (owner != (state == modified || state == exclusive || state == owned))
                fail(line, "its owner is not the core that has it M, E or O");
            if ((state == modified || state == exclusive) && (d.sharers & (d.sharers - 1)) != 0)
                fail(line, "shared although one core has it M or E");
            if (state == owned && !machine_.owned_state) fail(line, "state O without MOESI");
            if (machine_.llc_inclusive && (d.llcs >> self.cores_[slot]->llc & 1) == 0)
                fail(line, "in a core but not in its inclusive LLC");
            if ((state == modified || state == exclusive) && !machine_.llc_inclusive && d.llcs != 0)
                fail(line, "in an LLC although one core has it M or E");
        });
        if (d.owner_plus_one != 0 && (d.sharers >> (d.owner_plus_one - 1) & 1) == 0)
            fail(line, "its owner does not hold it");
    }
}

}  // namespace autofinity::sim
