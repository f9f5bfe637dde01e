// Cores that share an L2: what they do to each other's L1s, which no directory hears of.
//
// The L2 holds all that its L1s hold, and its word has the state of the domain: M, E or O where the
// directory has the domain for the owner. An L1 has a line M or E only if no other L1 of the domain
// has it; otherwise its copies are S (or O), and the L2 must be asked before a store. Lines go from
// one L1 to another through the L2, at its latency.
#include <algorithm>

#include "copies.hpp"

namespace autofinity::sim {

// The L2 has a line that the L1 misses. Other L1s give up what the access needs; returns the state
// that the line has in the L1 then.
Word Memory::take_from_l2(PrivateCaches& c, Line line, bool load, Ticks now, Ticks& ready,
                          bool& contended) {
    const Ticks start = wait_for_line(line, now);
    contended |= start != now;
    ready = start + c.side.l2_hit;
    Word* set2 = c.l2.at(pages_.physical(line));
    Word& word2 = set2[c.l2.find(set2, line)];
    if (!load) {
        const bool taken = take_from_siblings(c, line);
        if (taken && state_of(word2) != shared && state_of(word2) != owned) keep_busy(line, ready);
        return state_of(word2);
    }
    bool held = false;
    each_sibling_copy(c, line, [&](std::uint32_t cached_core, Word& word) {
        held = true;
        if (state_of(word) != modified && state_of(word) != exclusive) return;
        Counts& theirs = *cores_[cached_core]->counts;
        ++theirs[downgrades_received];
        ++theirs[is_dirty(state_of(word)) ? probe_responses_dirty : probe_responses_clean];
        if (state_of(word) == modified) word2 = word;
        word = word_of(line, shared);
        lost_.push_back({cached_core, line, true});
        keep_busy(line, ready);
    });
    return held ? Word{shared} : state_of(word2);
}

// The domain may write the line; the core's L1 has to ask, for others may have it.
Ticks Memory::upgrade_in_l2(PrivateCaches& c, Line line, Ticks now, bool& contended) {
    ++(*counts_)[upgrades];
    const Ticks ready = wait_for_line(line, now) + c.side.l2_hit;
    if (take_from_siblings(c, line)) {
        contended = true;
        keep_busy(line, ready);
    }
    Word* set = c.l1.at(line);
    if (const int way = c.l1.find(set, line); way >= 0) set[way] = word_of(line, modified);
    return ready;
}

// Invalidates the copies in the other L1s of the domain; returns whether there were any.
bool Memory::take_from_siblings(PrivateCaches& c, Line line) {
    Counts& n = *counts_;
    bool any = false;
    each_sibling_copy(c, line, [&](std::uint32_t cached_core, Word& word) {
        any = true;
        const bool dirty = state_of(word) == modified;
        Counts& theirs = *cores_[cached_core]->counts;
        ++n[invalidations_sent];
        ++theirs[invalidations_received];
        ++theirs[is_dirty(state_of(word)) ? probe_responses_dirty : probe_responses_clean];
        if (dirty) {
            Word* set2 = c.l2.at(pages_.physical(line));
            set2[c.l2.find(set2, line)] = word;
        }
        word = word_of(line, invalid);
        lost_.push_back({cached_core, line, false});
    });
    return any;
}

// When a line that the prefetcher of any core asked for is or was due; 0: none has lately.
Ticks Memory::due_from_any(const L2Domain& domain, Line line) {
    Ticks due = 0;
    for (const std::uint32_t cached_core : domain.cores)
        due = std::max(due, cores_[cached_core]->prefetcher.take(line));
    return due;
}

// M where an L1 has modified the line and the L2 does not know yet.
Word Memory::shared_l2_state(const L2Domain& domain, Line line) {
    Word* set2 = domain.first->l2.at(pages_.physical(line));
    const int way2 = domain.first->l2.find(set2, line);
    if (way2 < 0) return invalid;
    for (const std::uint32_t cached_core : domain.cores) {
        PrivateCaches& c = *cores_[cached_core];
        const Word* set = c.l1.at(line);
        const int way = c.l1.find(set, line);
        if (way >= 0 && state_of(set[way]) == modified) return modified;
    }
    return state_of(set2[way2]);
}

// What the directory made of the domain's copy. Of several in L1s none was more than S, nor is now.
void Memory::set_shared_l2_state(const L2Domain& domain, Line line, Word state) {
    Word* set2 = domain.first->l2.at(pages_.physical(line));
    if (const int way = domain.first->l2.find(set2, line); way >= 0)
        set2[way] = word_of(line, state);
    for (const std::uint32_t cached_core : domain.cores) {
        PrivateCaches& c = *cores_[cached_core];
        Word* set = c.l1.at(line);
        const int way = c.l1.find(set, line);
        if (way < 0 || state_of(set[way]) == invalid) continue;
        if (state == modified || state_of(set[way]) != shared) set[way] = word_of(line, state);
    }
}

// The L2 has given the line up, in `state`: so do the L1s, whose tags stay. Returns the state of
// the latest copy.
Word Memory::drop_from_l1s(const L2Domain& domain, Line line, Word state) {
    for (const std::uint32_t cached_core : domain.cores) {
        PrivateCaches& c = *cores_[cached_core];
        Word* set = c.l1.at(line);
        const int way = c.l1.find(set, line);
        if (way < 0 || state_of(set[way]) == invalid) continue;
        if (state_of(set[way]) == modified) state = modified;
        set[way] = word_of(line, invalid);
    }
    return state;
}

// The core's fill pushes `out` out of the L2: the L1s lose it too. Returns its latest word.
Word Memory::leave_l1s(const PrivateCaches& c, Word out) {
    const Line line = line_of(out);
    for (const std::uint32_t cached_core : l2_domains_[c.domain]->cores) {
        PrivateCaches& other = *cores_[cached_core];
        Word* set = other.l1.at(line);
        const int way = other.l1.find(set, line);
        if (way < 0) continue;
        const Word had = set[way];
        if (state_of(had) == modified) out = had;
        if (&other == &c) {
            set[way] = 0;
        } else if (state_of(had) != invalid) {
            set[way] = word_of(line, invalid);
            ++(*counts_)[back_invalidations];
            lost_.push_back({cached_core, line, false});
        }
    }
    return out;
}

// The core goes out of use; the others of its domain keep the L2.
void Memory::leave_shared_l2(std::uint32_t cached_core) {
    PrivateCaches& c = *cores_[cached_core];
    L2Domain& domain = *l2_domains_[c.domain];
    for (const Word word : c.l1.words()) {
        if (!is_dirty(state_of(word))) continue;
        Word* set2 = c.l2.at(pages_.physical(line_of(word)));
        set2[c.l2.find(set2, line_of(word))] = word;
    }
    std::erase(domain.cores, cached_core);
    domain.first = cores_[domain.cores[0]].get();
}

}  // namespace autofinity::sim
