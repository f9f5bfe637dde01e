// Accesses of a derived program, to be inlined where its steps are taken (derived_access.cpp has
// what is seldom).
#pragma once

#include "directory_filter.hpp"

namespace autofinity::sim {

// Steps ahead at which is brought near what is known last: where a line that leaves the core goes,
// and the entry of a finite directory.
inline constexpr std::size_t sets_ahead = 3;

// As `foresee`: the steps say what will miss.
[[gnu::always_inline]] inline void Memory::foresee_derived(const PrivateCaches& c,
                                                           const Step* at) const {
    const Step& far = at[steps_foreseen];
    if (far.kind == kind_tally)
        bring_near(program_.stage->tallies.data(), far.line);
    else if (far.kind >= kind_derived && far.kind <= kind_victim)
        bring_near(&directory_[far.line]);
    const Step& near = at[sets_ahead];
    if (near.kind == kind_leave)
        llcs_.bring_near(llcs_.at(c.llc, pages_.physical(near.line)));
    else if (near.kind >= first_that_fetches && near.kind <= kind_prefetch &&
             filters_.count() != 0 && pages_.mapped(near.line >> page_shift))
        foresee_filter(near.line);
}

// How often the L1 gives the line up, not written yet, which came dirty.
inline std::uint32_t dirty_victims(const Step& step) {
    return (step.flags & step_run) == 0 ? step.span : 0;
}

[[gnu::always_inline]] inline Served Memory::access_derived(PrivateCaches& c, const Step& step,
                                                            Ticks now) {
    Counts& n = *c.counts;
    counts_ = &n;
    now_ = now;
    const Line line = step.line;
    const bool atomic = (step.flags & step_atomic) != 0;
    const bool writes = step.writes != 0;
    const Found found = found_of(step.kind);
    Served served{now, false};
    DirectoryLine& d = directory_[line];
    Word state = derived_state(d, c.domain);
    const bool held = state != invalid;
    LineNotes& notes = *c.notes;
    const bool had_tag = found == Found::tag || found == Found::tag_and_l2;
    const bool was_in_l1 = found == Found::l1 || had_tag;
    const bool trains = (step.flags & step_trains) != 0 && c.prefetcher.present();
    // What nobody took away is in the L1 still, or this replay has fetched it into the L2 since.
    const bool hit = held && (trains ? was_in_l1 && !notes.has(line, Note::brought)
                                     : found == Found::l1 || found == Found::tag);
    if (!hit) {
        ++n[data_cache_misses];
        ++n[l2_accesses];
        if (was_in_l1) {
            n[invalid_data_cache_lines_evicted] += notes.take(line, Note::remains);
            served.contended = c.past->has_tag(line);
            n[coherence_misses] += served.contended;
        } else if ((step.flags & step_past) != 0) {
            notes.remove(line, Note::remains);
        }
    }
    if (held) {
        // The stage has it beyond the core: it stayed in the L2 for want of another line.
        if (found == Found::beyond && c.holes->stays(line)) [[unlikely]]
            is_back(c, line);
        if (!hit) {
            ++n[data_cache_refills_from_l2];
            served.ready = now + c.side.l2_hit;
            if (const Ticks due = c.prefetcher.take(line); due != 0) {
                ++n[prefetches_useful];
                n[prefetches_late] += due > served.ready;
                served.ready = std::max(served.ready, due);
            }
            if (is_dirty(state) && !machine_.llc_inclusive)
                served.dirty_victims = dirty_victims(step);
        }
    } else {
        ++n[l2_misses];
        ++n[data_cache_refills_from_northbridge];
        if (trains) c.prefetcher.take(line);  // it was taken away before anybody asked for it
        const bool reads_first =
            step.reads != 0 && !(writes && (atomic || (step.flags & step_first_write) != 0));
        const Request request = reads_first ? Request::load
                                : atomic    ? Request::atomic
                                            : Request::store;
        served.ready = fetch_derived(c, line, request, served.ready, state, served.contended);
        if (c.holes->is_missing(line))
            close_hole(c, line, c.exclusive_levels && (step.flags & step_past) != 0);
        if (state != shared) d.owner_state = static_cast<std::uint8_t>(state);
        if (state == modified && request == Request::load)
            served.dirty_victims = dirty_victims(step);
    }
    if (writes && (state == shared || state == owned))
        served.ready = upgrade_derived(c, line, atomic, served.ready, served.contended);
    else if (writes && state == exclusive)
        d.owner_state = modified;
    if ((step.flags & step_past) != 0) notes.replace(line, Note::left_l1, Note::in_l1);
    if (!hit) {
        notes.remove(line, Note::brought);
        if (trains)
            c.prefetcher.train_among_others(line, c.past->missed_pages(), now,
                                            [&](Line ahead) { prefetch(c, ahead, now); });
    }
    return served;
}

[[gnu::always_inline]] inline std::uint32_t Memory::follow(PrivateCaches& c, const Step& step) {
    DirectoryLine& d = directory_[step.line];
    const Word state = derived_state(d, c.domain);
    if (step.kind == kind_victim) {
        Counts& n = *c.counts;
        LineNotes& notes = *c.notes;
        if (step.span == 0) {
            if (step.reads == 0)
                notes.replace(step.line, Note::in_l1, Note::left_l1);
            else
                notes.remove(step.line, Note::in_l1);
            if (c.exclusive_levels && (state == invalid || c.holes->any_moved_up()))
                fill_l2_derived(c, step.line, state != invalid);
        }
        if (state == invalid || (step.span == 0 && notes.has(step.line, Note::remains)))
            n[invalid_data_cache_lines_evicted] += notes.take(step.line, Note::remains);
        else if (step.span == 0)
            ++n[is_dirty(state) ? modified_data_cache_lines_evicted
                                : clean_data_cache_lines_evicted];
        return 0;
    }
    counts_ = c.counts;
    if (step.kind == kind_leave) {
        if (is_left_by_walk(step)) return 0;  // done
        leave_l2_derived(c, step.line, state != invalid);
        return 0;
    }
    if (state != invalid) {  // it has come already, or has not left
        if (c.holes->stays(step.line)) is_back(c, step.line);
        return 0;
    }
    // Nothing is fetched ahead from a page that nobody has touched yet.
    if (!pages_.mapped(step.line >> page_shift)) return 0;
    // Nobody waits for a prefetch: what it waits for is no time of the thread.
    Counts& n = *counts_;
    const std::uint64_t waited[] = {n[memory_queue_clocks], n[link_queue_clocks]};
    ++n[prefetches_issued];
    c.notes->remove(step.line, Note::in_l1);
    Word granted = invalid;
    const Ticks ready = prefetch_derived(c, step.line, now_, granted);
    if (c.holes->is_missing(step.line)) close_hole(c, step.line, false);
    if (granted != shared) d.owner_state = static_cast<std::uint8_t>(granted);
    c.prefetcher.sent(step.line, ready, now_);
    n[memory_queue_clocks] = waited[0];
    n[link_queue_clocks] = waited[1];
    return granted == modified ? step.span : 0;
}

}  // namespace autofinity::sim
