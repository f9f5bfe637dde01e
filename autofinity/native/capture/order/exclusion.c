#include "capture/order/exclusion.h"

#include "capture/order/awaiting.h"
#include "capture/pace/polling.h"
#include "capture/record/accesses.h"
#include "capture/state/arena.h"
#include "capture/state/common.h"

// The mutex's owner ended, or another thread has unlocked the mutex: the section has no end of its
// own. From here on the mutex counts as another lock, and the next section comes after the token
// that `who` posted then.
static void begin_anew(af_mutex* m, const af_thread* who, uint64_t token) {
    m->object.id = af_ids(1);
    m->object.token = token;
    m->object.who = who;
    m->strict = true;
}

// Mutexes that others have unlocked for the thread: its sections end here, where no thread waits
// for them.
static void forget_lost(af_thread* t) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->held_n; i++) {
        const af_held held = t->held[i];
        if (held.mutex->owner == t && held.mutex->object.id == held.id)
            t->held[kept++] = held;
        else
            af_event_add(t, AF_UNLOCK, held.id, 0);
    }
    t->held_n = kept;
}

// A replay may order locks freely unless a critical section reads a line that an earlier one of
// another thread wrote: then this lock must come after that unlock. The lines that a section reads
// are only known at the unlock, so a slot right after the lock is kept for the await. A section
// counts as dependent if it is so long that its slots are gone by then, or if too many lines were
// written to remember.
void af_acquired(af_thread* t, uint64_t key, bool word) {
    af_mutex* m = (af_mutex*)af_object_of(key, AF_IS_MUTEX, sizeof *m);
    if (m->owner == t) {
        m->depth++;
        return;
    }
    if (m->owner != NULL) begin_anew(m, m->owner, m->owner->end_token);
    forget_lost(t);
    m->owner = t;
    m->depth = 1;
    m->posts = t->posts;
    m->before = m->object.who != t ? m->object.token : 0;
    m->ordered = m->strict;
    if (t->held_n < AF_HELD) t->held[t->held_n++] = (af_held){m, m->object.id};
    af_event_add(t, AF_LOCK, m->object.id, 0);
    // Until the section's reads are known, the slot stands for an await of the previous unlock.
    m->pending = af_event_add(t, AF_PENDING, m->before, 0);
    if (word) af_alone(t, (void*)(uintptr_t)key, 1, 1);
}

bool af_owns(const af_thread* t, uint64_t key) {
    const af_mutex* m = (const af_mutex*)af_object_known(key, AF_IS_MUTEX);
    return m != NULL && m->owner == t;
}

void af_releasing(af_thread* t, uint64_t key, bool word) {
    af_mutex* m = (af_mutex*)af_object_known(key, AF_IS_MUTEX);
    if (m == NULL || m->owner == NULL) return;
    if (m->owner != t) {
        const uint64_t handed = af_token();
        af_event_add(t, AF_POST, handed, 0);
        begin_anew(m, t, handed);
        m->owner = NULL;
        return;
    }
    if (--m->depth > 0) return;
    const uint64_t token = af_token();
    af_slot* pending = af_slot_at(t, m->pending);
    uint32_t level = 0;
    while (level < t->held_n && t->held[level].mutex != m) level++;
    // Not the innermost section: the awaits of the sections inside are not known yet.
    if (level + 1 < t->held_n) m->ordered = m->strict = true;
    // All slots of the section except its lock word's own access, which follows the pending slot.
    const af_slot* const from = pending == NULL ? NULL : pending + (word ? 2 : 1);
    if (pending != NULL) {
        uint64_t needed = af_needed(&m->written, t, from);
        if (m->ordered && m->before > needed) needed = m->before;
        pending->kind = needed != 0 ? AF_PENDING : AF_SKIP;
        pending->value = needed;
    }
    af_remember_writes(&m->written, t, from, token);
    if (pending == NULL || pending->kind == AF_PENDING) af_keep_order_of_held(t, m, m->posts);
    if (level < t->held_n) {
        for (uint32_t i = level; i + 1 < t->held_n; i++) t->held[i] = t->held[i + 1];
        t->held_n--;
    }
    m->owner = NULL;
    m->object.token = token;
    m->object.who = t;
    if (word) af_alone(t, (void*)(uintptr_t)key, 0, 1);
    af_event_add(t, AF_POST, token, 0);
    af_event_add(t, AF_UNLOCK, m->object.id, 0);
}

// The next thread that takes a robust mutex comes after this.
void af_abandon_held(af_thread* t) {
    forget_lost(t);
    while (t->held_n > 0) {
        af_mutex* const m = t->held[t->held_n - 1].mutex;
        m->depth = 1;
        m->ordered = m->strict = true;
        af_releasing(t, m->object.key, true);
    }
    while (t->sections_n > 0) af_event_add(t, AF_UNLOCK, t->sections[--t->sections_n].id, 0);
}

void af_attempt_failed(af_thread* t, const volatile void* word) {
    enum { HELD = 1 };
    bool woke;
    if (af_polling(t, (uintptr_t)word, HELD, &woke)) {
        af_rest(t);
        return;
    }
    af_alone(t, word, 1, 1);
    af_polled(t, (uintptr_t)word, HELD);
}
