#include "capture/record/windows.h"

#include <errno.h>

#include "capture/record/cuts.h"
#include "capture/record/encode.h"
#include "capture/record/files.h"
#include "capture/record/skeleton.h"
#include "capture/record/slots.h"
#include "capture/state/arena.h"
#include "capture/state/common.h"
#include "capture/state/failure.h"
#include "capture/warm/first_touch.h"
#include "capture/warm/history.h"
#include "capture/warm/snapshot.h"

// Reads the clock: the thread's own stamp is as old as its last look around.
static void look_at_clock(af_thread* t) {
    const _Atomic uint64_t* const clock = &af_shared->sampling.clock;
    t->stamp = (uint32_t)atomic_load_explicit(clock, memory_order_relaxed) + 1;
}

void af_windows_tick(af_thread* t) {
    if (t->recency == NULL) return;
    t->stamp =
        (uint32_t)atomic_fetch_add_explicit(&af_shared->sampling.clock, 1, memory_order_relaxed) +
        2;
    af_shut(t);
    af_cuts_count(t);
    af_open(t);
    af_windows_pass(t);
}

bool af_windows_prepare(af_thread* t) {
    if (!af_shared->sampling.on) return true;
    t->recency = af_recency_new();
    t->warmed = t->slots;
    look_at_clock(t);
    t->warm_accesses = UINT64_MAX;
    t->epoch = atomic_load(&af_shared->sampling.epoch);
    return t->recency != NULL;
}

// The note of the window that the thread passes into.
static af_window_note* new_note(af_thread* t, uint64_t window) {
    if (t->windows_n == t->windows_room) {
        const uint32_t room = t->windows_room == 0 ? 16 : 2 * t->windows_room;
        af_window_note* const more = af_alloc(room * sizeof *more);
        for (uint32_t i = 0; i < t->windows_n; i++) more[i] = t->windows[i];
        t->windows = more;
        t->windows_room = room;
    }
    af_window_note* const note = &t->windows[t->windows_n++];
    *note = (af_window_note){.window = (uint32_t)window};
    note->stream.instructions_begin = note->stream.instructions_end = t->now;
    note->stream.accesses_begin = note->stream.accesses_end = af_accesses_of(t);
    note->stream.chunks_at = t->stream.record.bytes;
    note->stream.events = t->stream.record.events;  // completed when the window ends
    t->stream.until = t->now;
    return note;
}

static void end_note(af_thread* t, bool waits) {
    af_window_stream* const s = &t->windows[t->windows_n - 1].stream;
    s->instructions_end = t->now;
    s->accesses_end = af_accesses_of(t);
    s->events = t->stream.record.events - s->events;
    s->chunks_bytes = t->stream.record.bytes - s->chunks_at;
    if (waits) s->flags |= AF_WINDOW_WAITS;
}

void af_windows_enter(af_thread* t) {
    if (t->recency == NULL) return;
    atomic_fetch_add(&af_shared->sampling.alive, 1);
    look_at_clock(t);
    t->epoch = atomic_load_explicit(&af_shared->sampling.epoch, memory_order_acquire);
    if (af_in_window(t)) new_note(t, t->epoch >> 1);
}

void af_windows_settle(af_thread* t) {
    if (t->recency == NULL) return;
    if (af_in_window(t)) end_note(t, false);
    atomic_fetch_sub(&af_shared->sampling.alive, 1);
}

void af_windows_leave(af_thread* t) {
    if (t->recency == NULL) return;
    af_recency* const r = t->recency;
    t->recency = NULL;
    af_recency_end(r);
}

void af_windows_warm(af_thread* t) {
    af_area area = {0};
    const uint32_t toucher = af_toucher(t->number, t->epoch);
    af_slot* const end = t->next;
    for (const af_slot* s = t->warmed; s < end; s++) {
        if (s->kind != AF_ACCESS) continue;
        const uint64_t line = s->value;
        if (AF_UNLIKELY(line - area.from >= area.lines)) area = af_area_of(&af_shared->areas, line);
        const bool written = s->writes != 0;
        af_history_touch(
            t, af_recency_touch(t->recency, line - area.less, written, t->stamp, toucher), written);
    }
    t->warmed = end;
}

void af_warm(af_thread* t) {
    if (t->recency == NULL || t->busy) return;
    af_close_lines(t);
    af_shut(t);
    af_windows_warm(t);
    af_open(t);
}

// Writes the snapshot to the thread's file. A snapshot equal to the last refers to that snapshot.
static void write_snapshot(af_thread* t, af_window_stream* s) {
    s->flags |= AF_WINDOW_EXISTS;
    if (t->warm_accesses == s->accesses_begin) {
        const af_window_stream* const last = &t->windows[t->windows_n - 2].stream;
        s->warm_at = last->warm_at;
        s->warm_bytes = last->warm_bytes;
        s->warm_crc = last->warm_crc;
        return;
    }
    char* const path = af_spare(t->stream.encoder);
    af_snapshot_path(t, path);
    if (t->warm_bytes == 0) {
        const af_sampled_file header = {AF_WARM_MAGIC, AF_SAMPLED_VERSION, t->number};
        af_append(path, &header, sizeof header);
        t->warm_bytes = sizeof header;
    }
    af_snapshot made = af_snapshot_take(t->recency, t->stamp, af_shared->sampling.most_lines);
    if (made.bytes == NULL) {
        af_fail("out of memory for a snapshot", path, ENOMEM);
        return;
    }
    af_append(path, made.bytes, made.size);
    s->warm_at = t->warm_bytes;
    s->warm_bytes = made.size;
    s->warm_crc = af_crc(&af_shared->crc, 0, made.bytes, made.size);
    t->warm_bytes += made.size;
    t->warm_accesses = s->accesses_begin;
    af_snapshot_end(&made);
}

// Adds an event; there is room.
static void add(af_thread* t, uint8_t kind, uint64_t value, uint16_t aux) {
    af_fill_slot(t, t->now, value, af_slot_shape(0, 0, kind))->aux = aux;
}

static void open_window(af_thread* t, bool missed) {
    write_snapshot(t, &new_note(t, t->epoch >> 1)->stream);
    if (missed) return;
    af_drain_slots(t);  // of a signal handler
    for (const af_standing* s = t->standing; s < t->standing + t->standing_n; s++)
        add(t, s->kind, s->value, s->aux);
    af_skeleton_skip(t);
    af_close_lines(t);
}

static void close_window(af_thread* t, bool missed, bool waits) {
    if (!missed) {
        for (const af_standing* s = t->standing + t->standing_n; s-- > t->standing;)
            if (s->kind == AF_LOCK)
                add(t, AF_UNLOCK, s->value, 0);
            else
                add(t, AF_UNIT_END, s->value, s->aux);
        af_skeleton_skip(t);
        af_drain_slots(t);
        if (af_recording()) af_seal_chunk(t, &t->stream);
    }
    end_note(t, waits);
}

void af_windows_pass(af_thread* t) {
    const uint64_t epoch = atomic_load_explicit(&af_shared->sampling.epoch, memory_order_acquire);
    if (AF_LIKELY(t->epoch == epoch) || t->recency == NULL || t->busy) return;
    af_shut(t);
    const bool waits = t->woke || atomic_load_explicit(&t->blocked, memory_order_relaxed) != 0;
    af_drain_slots(t);
    for (bool missed = false; t->epoch < epoch && af_recording();) {
        if (af_in_window(t)) {
            close_window(t, missed, waits);
            t->epoch++;
        } else {
            missed = epoch - t->epoch > 1;
            open_window(t, missed);
            t->epoch++;
        }
    }
    t->epoch = epoch;
    t->woke = false;
    af_open(t);
}

static void stand(af_thread* t, uint8_t kind, uint64_t value, unsigned aux) {
    if (t->standing_n < AF_STANDING)
        t->standing[t->standing_n++] = (af_standing){value, (uint16_t)aux, kind};
}

static void stand_no_more(af_thread* t, uint8_t kind, uint64_t value) {
    uint32_t at = t->standing_n;
    while (at > 0 && (t->standing[at - 1].kind != kind || t->standing[at - 1].value != value)) at--;
    if (at == 0) return;  // the event had found no place
    for (; at < t->standing_n; at++) t->standing[at - 1] = t->standing[at];
    t->standing_n--;
}

void af_windows_event(af_thread* t, uint8_t kind, uint64_t value, unsigned aux) {
    look_at_clock(t);
    // Other threads may now touch lines that this thread touched before: this thread was first.
    if (kind == AF_POST || kind == AF_BARRIER) af_warm(t);
    af_windows_pass(t);
    if (kind == AF_LOCK || kind == AF_UNIT_BEGIN)
        stand(t, kind, value, aux);
    else if (kind == AF_UNLOCK)
        stand_no_more(t, AF_LOCK, value);
    else if (kind == AF_UNIT_END)
        stand_no_more(t, AF_UNIT_BEGIN, value);
}
