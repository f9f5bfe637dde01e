// Slots, filled in program order.
#pragma once

#include "capture/record/buffer.h"
#include "capture/record/windows.h"

// Settles what is unsettled, and encodes the slots when the buffer is full.
AF_HIDDEN void af_make_room_apart(af_thread* t);

static inline void af_make_room(af_thread* t) {
    if (!af_has_room(t)) af_make_room_apart(t);
}

// The next slot. No signal handler comes in the middle and has its slots taken back.
static inline af_slot* af_reserve_slot(af_thread* t) {
#ifdef __x86_64__
    af_slot* at = (af_slot*)sizeof(af_slot);
    __asm__("xaddq %0, %1" : "+r"(at), "+m"(t->next) : : "cc");
    return at;
#else
    return t->next++;
#endif
}

// Fills a slot. There must be room for it.
static inline af_slot* af_fill_slot(af_thread* t, uint64_t now, uint64_t value, uint64_t shape) {
    af_slot* const s = af_reserve_slot(t);
    s->value = value;
    s->start = now;
    s->shape = shape;
    t->pointer = 0;
    return s;
}

// Adds an event that is not an access. Returns its permanent number (see af_slot_at).
AF_HIDDEN uint64_t af_event_add(af_thread* t, uint8_t kind, uint64_t value, unsigned aux);

static inline af_slot* af_slot_at(af_thread* t, uint64_t number) {
    const uint64_t in_use = (uint64_t)(t->next - t->slots);
    return number - t->base < in_use ? &t->slots[number - t->base] : NULL;
}
