#include "capture/order/awaiting.h"

#include "capture/order/locks.h"
#include "capture/record/slots.h"

// A thread that waits while it holds a lock must not take the lock earlier in a replay than in the
// capture: the thread it waits for may need the lock first. If the waiting thread has posted
// nothing since it took the lock, the replay ensures this: it takes the lock after the wait.
// Otherwise the wait may be for an answer, and the thread's open sections keep the order of the
// capture; since such nesting is repeated, all later sections of these locks do so, too.
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
