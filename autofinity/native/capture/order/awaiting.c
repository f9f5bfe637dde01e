#include "capture/order/awaiting.h"

#include "capture/order/locks.h"
#include "capture/record/slots.h"

// Who waits while it holds a lock must not have taken it out of turn: the one it waits for may need
// the lock first. If it has posted nothing since it took the lock, the replay sees to that: it
// takes the lock once the wait is over. Otherwise what it waits for may be an answer, and the
// sections it is in keep the order of the capture; since such a nesting comes again, so do all
// later ones of these locks.
void af_keep_order_of_held(af_thread* t, const void* inside, uint64_t posts) {
    for (uint32_t i = 0; i < t->held_n && t->held[i].mutex != inside; i++) {
        af_mutex* const held = t->held[i].mutex;
        if (held->posts == posts) continue;
        held->ordered = true;
        held->strict = true;
    }
    for (uint32_t i = 0; i < t->sections_n && t->sections[i].lock != inside; i++) {
        if (t->sections[i].posts == posts) continue;
        t->sections[i].ordered = true;
        t->sections[i].lock->strict = true;
    }
}

void af_await(af_thread* t, uint64_t token, const af_thread* who) {
    if (token == 0 || who == t || t->awaited[token % AF_AWAITED] == token) return;
    t->awaited[token % AF_AWAITED] = token;
    af_keep_order_of_held(t, NULL, t->posts);
    af_event_add(t, AF_AWAIT, token, 0);
}

void af_forget_awaited(af_thread* t) {
    for (int i = 0; i < AF_AWAITED; i++) t->awaited[i] = 0;
}
