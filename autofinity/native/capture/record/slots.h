// Slots, filled in program order.
#pragma once

#include "capture/record/buffer.h"
#include "capture/record/windows.h"

// Settles what is unsettled, and encodes the slots when the buffer is full.
AF_HIDDEN void af_make_room_apart(af_thread* t);

static inline void af_make_room(af_thread* t) {
    if (!af_has_room(t)) af_make_room_apart(t);
}

// Fills a slot. There must be room for it.
static inline af_slot* af_fill_slot(af_thread* t, uint64_t now, uint64_t value, uint64_t shape) {
    af_slot* const s = t->next++;
    s->value = value;
    s->start = now;
    s->shape = shape;
    t->pointer = 0;
    return s;
}

// Adds an event that is not an access. Returns its permanent number (see af_slot_at).
static inline uint64_t af_event_add(af_thread* t, uint8_t kind, uint64_t value, unsigned aux) {
    if (AF_UNLIKELY(t->recency != NULL)) af_windows_event(t, kind, value, aux);
    af_make_room(t);
    af_slot* const s = af_fill_slot(t, t->now, value, af_slot_shape(0, 0, kind));
    s->aux = (uint16_t)aux;
    t->posts += kind == AF_POST;
    af_close_lines(t);
    return t->base + (uint64_t)(s - t->slots);
}

static inline af_slot* af_slot_at(af_thread* t, uint64_t number) {
    const uint64_t in_use = (uint64_t)(t->next - t->slots);
    return number - t->base < in_use ? &t->slots[number - t->base] : NULL;
}
