// Accesses of a derived program: the step says where its line is, the directory whether it still
// is. There are no stages for shared L2s, so that a core's slot is the number of its L2 domain; nor
// of more streams than a word of sharers has bits.
#include "derived_access.hpp"

namespace autofinity::sim {

bool Memory::hits_l1_derived(std::uint32_t slot, const Step& step) const {
    const Found found = found_of(step.kind);
    return (found == Found::l1 || found == Found::tag) &&
           derived_state(directory_[step.line], slot) != invalid;
}

Ticks Memory::miss_tlb_derived(std::uint32_t slot, const Step* at, const Step& step, Ticks now,
                               bool faulted) {
    PrivateCaches& c = *cores_[slot];
    const std::uint32_t page = step.line >> page_shift;
    Counts& n = *c.counts;
    counts_ = &n;
    now_ = now;
    ++n[dtlb_misses];
    Ticks cost = c.side.tlb2_hit;
    if (translated_of(step.kind) == Translated::tlb2) {
        ++n[l2_tlb_hits];
        return cost;
    }
    ++n[page_walks];
    cost += c.side.page_walk;
    if (c.side.walk_reads_caches)
        cost += entry_derived(slot, c.units.entry(page), faulted, now) - now;
    // What the entry pushes out is on its way before the access itself.
    if ((step.flags & step_pushes) != 0)
        for (const Step* next = at + 1; is_left_by_walk(*next); ++next)
            leave_l2_derived(c, next->line, derived_state(directory_[next->line], slot) != invalid);
    return cost;
}

Ticks Memory::entry_derived(std::uint32_t slot, Line line, bool write, Ticks now) {
    PrivateCaches& c = *cores_[slot];
    if (!pages_.mapped(line >> page_shift)) pages_.map_table(line >> page_shift, c.node);
    Word state = private_state(slot, line);
    Ticks ready = now + c.side.l2_hit;
    bool contended = false;
    if (c.holes->stays(line)) is_back(c, line);
    if (state == invalid) {
        ++(*counts_)[page_walk_misses];
        ready = fetch(c, line, write ? Request::store : Request::load, now, state, contended);
        if (c.holes->is_missing(line)) close_hole(c, line, false);
        set_private_state(slot, line, state);
    }
    if (!write) return ready;
    if (state == shared || state == owned) return upgrade(c, line, false, ready, contended);
    set_private_state(slot, line, modified);
    return ready;
}

Served Memory::access_derived(std::uint32_t slot, const Step& step, Ticks now) {
    return access_derived(*cores_[slot], step, now);
}

std::uint32_t Memory::follow(std::uint32_t slot, const Step& step) {
    return follow(*cores_[slot], step);
}

// Another core has taken the line.
void Memory::open_hole(std::uint32_t slot, Line line) {
    PrivateCaches& c = *cores_[slot];
    const std::uint32_t set = l2_set(c, line);
    if (c.holes->stays(line))
        c.holes->forget(set, line);
    else if (!c.exclusive_levels || !c.notes->has(line, Note::in_l1))
        c.holes->open(set, line);
}

// A line that is missing comes into the core: into an L1 alone, if the levels exclude each other
// and a step will tell when it is back in the L2.
void Memory::close_hole(PrivateCaches& c, Line line, bool in_l1_alone) {
    const std::uint32_t set = l2_set(c, line);
    if (in_l1_alone)
        c.holes->move_up(set, line);
    else
        c.holes->close(set, line, [&](Line out) { leave_derived(c, out); });
}

// A line comes from the L1 into the L2, if it is there.
void Memory::fill_l2_derived(PrivateCaches& c, Line line, bool there) {
    const std::uint32_t set = l2_set(c, line);
    if (!there)
        c.holes->open(set, line);
    else
        c.holes->fill(set, [&](Line out) { leave_derived(c, out); });
}

// The stage has no place in the L2 for the line any more.
void Memory::leave_l2_derived(PrivateCaches& c, Line line, bool there) {
    if (there)
        c.holes->leave(l2_set(c, line), line, [&](Line out) { leave_derived(c, out); });
    else if (c.holes->is_missing(line))
        close_hole(c, line, false);
}

// The line of the access under way, or that is fetched ahead, is in the L2 already, where it
// stayed.
void Memory::is_back(PrivateCaches& c, Line line) { c.holes->forget(l2_set(c, line), line); }

void Memory::leave_derived(PrivateCaches& c, Line line) {
    leave_private(c, word_of(line, derived_state(directory_[line], c.domain)));
}

std::uint32_t Memory::follow_at(std::uint32_t slot, const Step& step, Ticks now) {
    now_ = now;
    return follow(*cores_[slot], step);
}

// Where an access finds its line that is not in the L1, which has its tag at `way`, or -1. Of a tag
// that is lost a replay finds out whether it would have been.
Found Memory::derive_found(PrivateCaches& c, Line line, int way, bool in_l2) {
    const bool lost_tag = c.taken->asked_for(line);
    const bool had_tag = way >= 0 || lost_tag;
    if (in_l2) return had_tag ? Found::tag_and_l2 : Found::l2;
    return had_tag ? Found::tag : Found::beyond;
}

// In a derivation cores take lines from each other as in any replay, but all distances are the
// shortest, and which LLC has a line depends on the placement: the core's own only tells how long
// its lines take to come.
Ticks Memory::derive_fetch(std::uint32_t slot, Line line, Request request, Ticks now, Word& granted,
                           bool& contended) {
    cores_[slot]->taken->into_l2(line, pages_.physical(line));
    DirectoryLine& d = directory_[line];
    contended |= request != Request::load && d.first_sharers != 0;
    const Ticks ready = now + (d.owner_plus_one != 0              ? machine_.load_modified[0]
                               : in_llc_of_derivation(slot, line) ? machine_.llc_hit
                                                                  : machine_.dram[0]);
    if (request != Request::load) {
        take_in_derivation(slot, line);
        granted = modified;
        return ready;
    }
    if (d.owner_plus_one != 0) {
        set_private_state(d.owner_plus_one - 1u, line, machine_.owned_state ? owned : shared);
        if (!machine_.owned_state) d.owner_plus_one = 0;
    }
    sharers<false>(line, d).add(slot);
    granted = shared;
    return ready;
}

bool Memory::in_llc_of_derivation(std::uint32_t slot, Line line) {
    Word* set = llcs_.at(cores_[slot]->llc, pages_.physical(line));
    const int way = llcs_.find(set, line);
    if (way >= 0)
        llcs_.to_front(set, way, set[way]);
    else if (machine_.llc_inclusive)
        llcs_.insert(set, word_of(line, shared));
    return way >= 0;
}

Ticks Memory::derive_upgrade(std::uint32_t slot, Line line, Ticks now, bool& contended) {
    outcome_.got_write = true;
    const bool others = sharers<false>(line, directory_[line]).any_but(slot);
    take_in_derivation(slot, line);
    set_private_state(slot, line, modified);
    if (!others) return now;  // a replay finds the line exclusive
    contended = true;
    return now + machine_.store_shared[0];
}

void Memory::take_in_derivation(std::uint32_t slot, Line line) {
    DirectoryLine& d = directory_[line];
    SharersOf<false> have = sharers<false>(line, d);
    have.each([&](auto other) {
        if (other != slot) drop_private(other, line);
    });
    have.clear();
    have.add(slot);
    d.owner_plus_one = static_cast<std::uint16_t>(slot + 1);
}

// Leaves its place in the core, even if it was taken before.
void Memory::derive_leave(PrivateCaches& c, Line line) {
    outcome_.pushed.push_back({line, kind_leave});
    if (!machine_.llc_inclusive) {
        Word* set = llcs_.at(c.llc, pages_.physical(line));
        if (llcs_.find(set, line) < 0) llcs_.insert(set, word_of(line, shared));
    }
    DirectoryLine& d = directory_[line];
    sharers<false>(line, d).remove(c.domain);
    if (d.owner_plus_one == c.domain + 1) d.owner_plus_one = 0;
}

// A prefetch that finds no free buffer here may find one in a replay, where others come sooner:
// the stage tells when the line would have left again.
void Memory::derive_dropped(PrivateCaches& c, Line line) {
    outcome_.dropped = true;
    if (!holds(c.domain, line)) c.taken->not_sent(line, pages_.physical(line));
}

// A line comes to the front of its L1 set, in the place of `old`, which was at `way`. A replay
// finds out itself whether it misses a line and so fills its own tag anew.
void Memory::derive_front_of_l1(PrivateCaches& c, Line line, int way, Word old) {
    c.taken->front_of_l1(line, way, [&](Line out) {
        outcome_.aged.push_back(out);
        if (c.exclusive_levels && !holds(c.domain, out)) derive_fill_l2(c, word_of(out, invalid));
    });
    if (line_of(old) == line) return;
    displace_tags(c, line, way, old);
    if (old == 0) return;
    if (state_of(old) == invalid)
        c.taken->lose_tag(line_of(old));
    else
        outcome_.l1_victims.push_back(old);
}

// A fill takes the last way that has no valid line, else the last way: `way`, of `old`. So would
// those after it and, if that was valid, all of the set have been given up, had others taken them.
void Memory::displace_tags(const PrivateCaches& c, Line line, int way, Word old) {
    const int first = old == 0 || state_of(old) == invalid ? way + 1 : 1;
    const Word* set = c.l1.at(line);
    for (int i = first; i < static_cast<int>(c.l1.ways()); ++i)
        if (set[i] != 0) outcome_.displaced.push_back(line_of(set[i]));
    if (old != 0) outcome_.displaced.push_back(line_of(old));
    c.taken->each_lost_tag(line, static_cast<std::uint32_t>(first),
                           [this](Line other) { outcome_.displaced.push_back(other); });
}

// The line comes to the front of its L2 set, where it may have a place.
void Memory::derive_fill_l2(PrivateCaches& c, Word word) {
    const Line line = line_of(word);
    Word* set = c.l2.at(pages_.physical(line));
    if (const int way = c.l2.find(set, line); way >= 0) {
        c.l2.to_front(set, way, word);
        return derive_front_of_l2(c, line, way);
    }
    const Word out = c.l2.insert(set, word);
    derive_front_of_l2(c, line, static_cast<int>(c.l2.ways()));
    if (out == 0) return;
    if (!c.exclusive_levels) {
        Word* set1 = c.l1.at(line_of(out));
        if (const int way = c.l1.find(set1, line_of(out)); way >= 0) {
            set1[way] = 0;
        }
    }
    derive_leave(c, line_of(out));
}

// A line comes to the front of its L2 set, in the place of what was at `way`.
void Memory::derive_front_of_l2(PrivateCaches& c, Line line, int way) {
    c.taken->front_of_l2(pages_.physical(line), way,
                         [this](Line out) { outcome_.pushed.push_back({out, kind_leave}); });
}

}  // namespace autofinity::sim
