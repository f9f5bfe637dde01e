// Accesses of a derived program: the step says where its line is, the directory whether it still
// is. There are no stages for shared L2s, so that a core's slot is the number of its L2 domain; nor
// of more streams than a word of sharers has bits.
#include "derived_access.hpp"

namespace autofinity::sim {

bool Memory::hits_l1_derived(std::uint32_t slot, const Step& step) const {
    return found_of(step.kind) != Found::l2 && found_of(step.kind) != Found::tag_and_l2 &&
           derived_state(directory_[step.line], slot) != invalid;
}

Ticks Memory::miss_tlb_derived(std::uint32_t slot, const Step& step, Ticks now, bool faulted) {
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
    return cost;
}

Ticks Memory::entry_derived(std::uint32_t slot, Line line, bool write, Ticks now) {
    PrivateCaches& c = *cores_[slot];
    if (!pages_.mapped(line >> page_shift)) pages_.map_table(line >> page_shift, c.node);
    Word state = private_state(slot, line);
    Ticks ready = now + c.side.l2_hit;
    bool contended = false;
    if (state == invalid) {
        ++(*counts_)[page_walk_misses];
        ready = fetch(c, line, write ? Request::store : Request::load, now, state, contended);
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

// In a derivation cores take lines from each other as in any replay, but all distances are the
// shortest and there are no LLCs: which of them has a line depends on the placement.
Ticks Memory::derive_fetch(std::uint32_t slot, Line line, Request request, Ticks now, Word& granted,
                           bool& contended) {
    cores_[slot]->taken->fetched(line, pages_.physical(line));
    DirectoryLine& d = directory_[line];
    contended |= request != Request::load && d.first_sharers != 0;
    if (outcome_.found != Found::tag) outcome_.found = Found::beyond;
    const Ticks ready = now + (d.owner_plus_one != 0 ? machine_.load_modified : machine_.dram)[0];
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

void Memory::derive_leave(std::uint32_t slot, Line line) {
    outcome_.pushed.push_back({line, kind_leave});
    DirectoryLine& d = directory_[line];
    sharers<false>(line, d).remove(slot);
    if (d.owner_plus_one == slot + 1) d.owner_plus_one = 0;
}

// A line comes to the front of its L2 set, in the place of what was at `way`.
void Memory::derive_front_of_l2(PrivateCaches& c, Line line, int way) {
    c.taken->front_of_l2(pages_.physical(line), way,
                         [this](Line out) { outcome_.pushed.push_back({out, kind_leave}); });
}

}  // namespace autofinity::sim
