#include "l2_domain.hpp"

#include <algorithm>

namespace autofinity::sim {

L2Domain::L2Domain(const MachineModel& machine, std::uint32_t core, bool may_be_shared,
                   const Pages& pages, BusyLines& busy)
    : l2(machine.classes[machine.class_of_core[core]].side.l2.sets,
         machine.classes[machine.class_of_core[core]].side.l2.ways),
      number(machine.topology.l2_of_core()[core]),
      llc(machine.topology.llc_of_core()[core]),
      node(machine.topology.node_of_core()[core]),
      is_shared(may_be_shared),
      pages_(pages),
      busy_(busy) {}

void L2Domain::join(PrivateCaches& c) {
    cores_.push_back(&c);
    first_ = cores_[0];
}

void L2Domain::leave(PrivateCaches& c) {
    for (const Word word : c.l1.words())
        if (is_dirty(state_of(word))) word_of_l2(line_of(word)) = word;
    std::erase(cores_, &c);
    first_ = cores_.empty() ? nullptr : cores_[0];
}

Word& L2Domain::word_of_l2(Line line) const {
    Word* set = l2.at(pages_.physical(line));
    return set[l2.find(set, line)];
}

Word L2Domain::state(Line line) const {
    if (is_shared) [[unlikely]]
        return shared_state(line);
    const L1Sets& l1 = first_->l1;
    const Word* set1 = l1.at(line);
    if (const int way = l1.find(set1, line); way >= 0 && state_of(set1[way]) != invalid)
        return state_of(set1[way]);
    const Word* set2 = l2.at(pages_.physical(line));
    const int way = l2.find(set2, line);
    return way >= 0 ? state_of(set2[way]) : Word{invalid};
}

void L2Domain::set_state(Line line, Word state) {
    if (is_shared) [[unlikely]]
        return set_shared_state(line, state);
    PrivateCaches& c = *first_;
    Word* set1 = c.l1.at(line);
    if (const int way = c.l1.find(set1, line); way >= 0 && state_of(set1[way]) != invalid) {
        set1[way] = word_of(line, state);
        if (c.exclusive_levels) return;
    }
    Word* set2 = l2.at(pages_.physical(line));
    if (const int way = l2.find(set2, line); way >= 0) set2[way] = word_of(line, state);
}

Word L2Domain::drop(Line line) {
    Word state = invalid;
    if (!is_shared) {
        PrivateCaches& c = *first_;
        Word* set1 = c.l1.at(line);
        if (const int way = c.l1.find(set1, line); way >= 0 && state_of(set1[way]) != invalid) {
            state = state_of(set1[way]);
            set1[way] = word_of(line, invalid);
            if (c.exclusive_levels) return state;
        }
    }
    Word* set2 = l2.at(pages_.physical(line));
    if (const int way = l2.find(set2, line); way >= 0) {
        const Word state2 = state_of(set2[way]);
        l2.remove(set2, way);
        if (state == invalid) state = state2;
    }
    return is_shared ? drop_from_l1s(line, state) : state;
}

Word L2Domain::take(PrivateCaches& c, Line line, bool load, Ticks now, Ticks& ready,
                    bool& contended, UnderWay& w) {
    const Ticks start = busy_.wait(line, now);
    contended |= start != now;
    ready = start + c.side.l2_hit;
    Word& word2 = word_of_l2(line);
    if (!load) {
        const bool taken = take_from_siblings(c, line, w);
        if (taken && state_of(word2) != shared && state_of(word2) != owned) busy_.keep(line, ready);
        return state_of(word2);
    }
    bool held = false;
    each_sibling_copy(c, line, [&](PrivateCaches& other, Word& word) {
        held = true;
        if (state_of(word) != modified && state_of(word) != exclusive) return;
        Counts& theirs = *other.counts;
        ++theirs[downgrades_received];
        ++theirs[is_dirty(state_of(word)) ? probe_responses_dirty : probe_responses_clean];
        if (state_of(word) == modified) word2 = word;
        word = word_of(line, shared);
        w.lost.push_back({other.number, line, true});
        busy_.keep(line, ready);
    });
    return held ? Word{shared} : state_of(word2);
}

Ticks L2Domain::upgrade(PrivateCaches& c, Line line, Ticks now, bool& contended, UnderWay& w) {
    ++(*w.counts)[upgrades];
    const Ticks start = busy_.wait(line, now);
    contended |= start != now;
    const Ticks ready = start + c.side.l2_hit;
    if (take_from_siblings(c, line, w)) busy_.keep(line, ready);
    Word* set = c.l1.at(line);
    if (const int way = c.l1.find(set, line); way >= 0) set[way] = word_of(line, modified);
    return ready;
}

bool L2Domain::take_from_siblings(PrivateCaches& c, Line line, UnderWay& w) {
    Counts& n = *w.counts;
    bool any = false;
    each_sibling_copy(c, line, [&](PrivateCaches& other, Word& word) {
        any = true;
        Counts& theirs = *other.counts;
        ++n[invalidations_sent];
        ++theirs[invalidations_received];
        ++theirs[is_dirty(state_of(word)) ? probe_responses_dirty : probe_responses_clean];
        if (state_of(word) == modified) word_of_l2(line) = word;
        word = word_of(line, invalid);
        w.lost.push_back({other.number, line, false});
    });
    return any;
}

Word L2Domain::evict_from_l1s(const PrivateCaches& c, Word out, UnderWay& w) {
    const Line line = line_of(out);
    for (PrivateCaches* other : cores_) {
        Word* set = other->l1.at(line);
        const int way = other->l1.find(set, line);
        if (way < 0) continue;
        const Word had = set[way];
        if (state_of(had) == modified) out = had;
        if (other == &c) {
            set[way] = 0;
        } else if (state_of(had) != invalid) {
            set[way] = word_of(line, invalid);
            ++(*w.counts)[back_invalidations];
            w.lost.push_back({other->number, line, false});
        }
    }
    return out;
}

Ticks L2Domain::due_from_any(Line line) {
    Ticks due = 0;
    for (PrivateCaches* c : cores_) due = std::max(due, c->prefetcher.take(line));
    return due;
}

// The state; M where an L1 has modified the line and the L2 does not know this yet.
Word L2Domain::shared_state(Line line) const {
    const Word* set2 = l2.at(pages_.physical(line));
    const int way2 = l2.find(set2, line);
    if (way2 < 0) return invalid;
    for (const PrivateCaches* c : cores_) {
        const Word* set = c->l1.at(line);
        const int way = c->l1.find(set, line);
        if (way >= 0 && state_of(set[way]) == modified) return modified;
    }
    return state_of(set2[way2]);
}

// None of several copies in L1s was above S, and none is now.
void L2Domain::set_shared_state(Line line, Word state) {
    Word* set2 = l2.at(pages_.physical(line));
    if (const int way = l2.find(set2, line); way >= 0) set2[way] = word_of(line, state);
    for (PrivateCaches* c : cores_) {
        Word* set = c->l1.at(line);
        const int way = c->l1.find(set, line);
        if (way < 0 || state_of(set[way]) == invalid) continue;
        if (state == modified || state_of(set[way]) != shared) set[way] = word_of(line, state);
    }
}

// The L2 has evicted the line, in `state`. Returns the state of the latest copy.
Word L2Domain::drop_from_l1s(Line line, Word state) {
    for (PrivateCaches* c : cores_) {
        Word* set = c->l1.at(line);
        const int way = c->l1.find(set, line);
        if (way < 0 || state_of(set[way]) == invalid) continue;
        if (state_of(set[way]) == modified) state = modified;
        set[way] = word_of(line, invalid);
    }
    return state;
}

}  // namespace autofinity::sim
