#include "capture/record/slots.h"

#include "capture/record/encode.h"

void af_make_room_apart(af_thread* t) {
    if (t->unsettled != NULL) t->settle(t);
    if (t->next >= t->slots + AF_SLOTS) af_drain(t);
}

uint64_t af_event_add(af_thread* t, uint8_t kind, uint64_t value, unsigned aux) {
    if (AF_UNLIKELY(t->recency != NULL)) af_windows_event(t, kind, value, aux);
    uint64_t base;
    af_slot* s;
    do {
        af_make_room(t);
        base = t->base;
        s = af_reserve_slot(t);
        s->value = value;
        s->start = t->now;
        atomic_signal_fence(memory_order_seq_cst);
    } while (AF_UNLIKELY(t->base != base));  // a signal handler has emptied the slots meanwhile
    s->shape = af_slot_shape(0, 0, kind) | (uint64_t)(uint16_t)aux << AF_AUX_SHIFT;
    t->pointer = 0;
    t->posts += kind == AF_POST;
    af_close_lines(t);
    return t->base + (uint64_t)(s - t->slots);
}
