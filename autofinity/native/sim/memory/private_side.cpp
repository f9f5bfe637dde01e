// L1 and L2 of one core: what they hold, what a fill pushes out, what leaves the core. What is
// added where cores share an L2 is in shared_l2.cpp.
#include "memory.hpp"

namespace autofinity::sim {

bool Memory::hits_l1(std::uint32_t cached_core, const Step& step) const {
    const Sets& l1 = cores_[cached_core]->l1;
    const Word* set = l1.at(step.line());
    const int way = l1.find(set, step.line());
    return way >= 0 && state_of(set[way]) != invalid;
}

Word Memory::private_state(std::uint32_t domain, Line line) {
    const L2Domain& of = *l2_domains_[domain];
    if (of.shared) [[unlikely]]
        return shared_l2_state(of, line);
    PrivateCaches& c = *of.first;
    const Word* set1 = c.l1.at(line);
    if (const int way = c.l1.find(set1, line); way >= 0 && state_of(set1[way]) != invalid)
        return state_of(set1[way]);
    const Word* set2 = c.l2.at(pages_.physical(line));
    const int way = c.l2.find(set2, line);
    return way >= 0 ? state_of(set2[way]) : Word{invalid};
}

void Memory::set_private_state(std::uint32_t domain, Line line, Word state) {
    const L2Domain& of = *l2_domains_[domain];
    if (of.shared) [[unlikely]]
        return set_shared_l2_state(of, line, state);
    PrivateCaches& c = *of.first;
    Word* set1 = c.l1.at(line);
    if (const int way = c.l1.find(set1, line); way >= 0 && state_of(set1[way]) != invalid) {
        set1[way] = word_of(line, state);
        if (c.exclusive_levels) return;
    }
    Word* set2 = c.l2.at(pages_.physical(line));
    if (const int way = c.l2.find(set2, line); way >= 0) set2[way] = word_of(line, state);
}

// Takes the line away; the L1 keeps the tag, so that the next miss is known for what it is.
Word Memory::drop_private(std::uint32_t domain, Line line) {
    const L2Domain& of = *l2_domains_[domain];
    PrivateCaches& c = *of.first;
    Word state = invalid;
    if (!of.shared) {
        Word* set1 = c.l1.at(line);
        if (const int way = c.l1.find(set1, line); way >= 0 && state_of(set1[way]) != invalid) {
            state = state_of(set1[way]);
            set1[way] = word_of(line, invalid);
            if (c.exclusive_levels) return state;
        }
    }
    Word* set2 = c.l2.at(pages_.physical(line));
    if (const int way = c.l2.find(set2, line); way >= 0) {
        const Word state2 = state_of(set2[way]);
        c.l2.remove(set2, way);
        if (state == invalid) state = state2;
    }
    return of.shared ? drop_from_l1s(of, line, state) : state;
}

// `tag`: the way of `set` that kept the tag when the line was taken away; -1: none.
template <MachineKind kind>
[[gnu::always_inline]] inline void Memory::fill_l1(PrivateCaches& c, Word* set, int tag,
                                                   Word word) {
    Counts& n = *counts_;
    int victim = tag >= 0 ? tag : c.l1.last_invalid(set);
    if (victim < 0) victim = static_cast<int>(c.l1.ways()) - 1;
    const Word old = set[victim];
    c.l1.to_front(set, victim, word);
    if (old == 0) return;
    const Word old_state = state_of(old);
    if (old_state == invalid) {
        ++n[invalid_data_cache_lines_evicted];
        return;
    }
    ++n[is_dirty(old_state) ? modified_data_cache_lines_evicted : clean_data_cache_lines_evicted];
    Word* set2 = c.l2.at(pages_.physical(line_of(old)));
    if (Asked<kind>::levels_exclude(c)) {
        if (const Word out = c.l2.insert(set2, old); out != 0) leave_private<kind>(c, out);
    } else if (is_dirty(old_state)) {
        if (const int way = c.l2.find(set2, line_of(old)); way >= 0) set2[way] = old;
    }
}

// Where L1 and L2 are exclusive the line must not be in the L1.
template <MachineKind kind>
[[gnu::always_inline]] inline void Memory::fill_l2(PrivateCaches& c, Line line, Word state) {
    Word out = c.l2.insert(c.l2.at(pages_.physical(line)), word_of(line, state));
    if (out == 0) return;
    if (Asked<kind>::shares_l2(c)) [[unlikely]] {
        out = leave_l1s(c, out);
    } else if (!Asked<kind>::levels_exclude(c)) {
        Word* set1 = c.l1.at(line_of(out));
        if (const int way = c.l1.find(set1, line_of(out)); way >= 0) {
            if (state_of(set1[way]) != invalid) out = set1[way];
            set1[way] = 0;
        }
    }
    leave_private<kind>(c, out);
}

template <MachineKind kind>
[[gnu::noinline]] void Memory::leave_private(const PrivateCaches& c, Word word) {
    const Line line = line_of(word);
    const bool dirty = is_dirty(state_of(word));
    const std::uint32_t llc = c.llc;
    const std::uint32_t domain = c.domain;
    DirectoryLine& d = directory_[line];
    ++(*counts_)[l2_evictions];
    if (dirty) ++(*counts_)[l2_writebacks];
    if (!Asked<kind>::many_sharers(more_words_))
        sharers<false>(line, d).remove(domain);
    else
        sharers(line, d).remove(domain);
    if (d.owner_plus_one == domain + 1) d.owner_plus_one = 0;
    if (!Asked<kind>::llc_includes(machine_)) llc_insert<kind>(llc, line);
    if (dirty) d.dirty_llc_plus_one = static_cast<std::uint8_t>(llc + 1);
}
template void Memory::leave_private<MachineKind::any>(const PrivateCaches&, Word);

}  // namespace autofinity::sim
