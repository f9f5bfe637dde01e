#include "objects.h"

#include <sched.h>
#include <sys/mman.h>

enum { BUCKET_BITS = 17 };  // a MiB: see AF_SHADOW_REGION

static _Atomic(af_object*) buckets[1u << BUCKET_BITS];

static _Atomic(af_object*)* bucket_of(uint64_t key, af_object_kind kind) {
    return &buckets[((key + kind) * 0x9e3779b97f4a7c15ull) >> (64 - BUCKET_BITS)];
}

static af_object* search(af_object* from, const af_object* until, uint64_t key,
                         af_object_kind kind) {
    for (af_object* o = from; o != until; o = atomic_load_explicit(&o->next, memory_order_acquire))
        if (o->key == key && o->kind == kind) return o;
    return NULL;
}

af_object* af_object_known(uint64_t key, af_object_kind kind) {
    return search(atomic_load_explicit(bucket_of(key, kind), memory_order_acquire), NULL, key,
                  kind);
}

af_object* af_object_of(uint64_t key, af_object_kind kind, size_t size) {
    _Atomic(af_object*)* bucket = bucket_of(key, kind);
    af_object* head = atomic_load_explicit(bucket, memory_order_acquire);
    af_object* found = search(head, NULL, key, kind);
    if (AF_LIKELY(found != NULL)) return found;
    af_object* made = af_alloc(size);
    made->key = key;
    made->kind = kind;
    made->id = af_ids(1);
    const af_object* seen = head;
    for (;;) {
        atomic_store_explicit(&made->next, head, memory_order_relaxed);
        if (atomic_compare_exchange_strong_explicit(bucket, &head, made, memory_order_release,
                                                    memory_order_acquire))
            return made;
        if ((found = search(head, seen, key, kind)) != NULL) return found;
        seen = head;
    }
}

void af_object_lock(af_object* o) {
    for (int i = 0; atomic_exchange_explicit(&o->locked, 1, memory_order_acquire); i++)
        if (i > 20) sched_yield();
}

void af_object_unlock(af_object* o) { atomic_store_explicit(&o->locked, 0, memory_order_release); }

// Lock order is free in replay but where a critical section reads a line that an earlier one of
// another thread wrote: then this lock must come after that unlock. What is read is only known at
// the unlock, so a slot right after the lock is kept for the await. Where the section is so long
// that its slots are gone by then, or wrote too many lines to remember, it counts as dependent.
void af_acquired(af_thread* t, uint64_t key, bool word) {
    af_mutex* m = (af_mutex*)af_object_of(key, AF_IS_MUTEX, sizeof *m);
    if (m->owner == t) {
        m->depth++;
        return;
    }
    m->owner = t;
    m->depth = 1;
    m->posts = t->posts;
    m->before = m->object.who != t ? m->object.token : 0;
    m->ordered = m->strict;
    if (t->held_n < AF_HELD) t->held[t->held_n++] = m;
    af_event_add(t, AF_LOCK, m->object.id, 0);
    // Until it is known better, the slot stands for an await of the previous unlock.
    m->pending = af_event_add(t, AF_PENDING, m->before, 0);
    if (word) af_alone(t, (void*)(uintptr_t)key, 1, 1);
}

void af_releasing(af_thread* t, uint64_t key, bool word) {
    af_mutex* m = (af_mutex*)af_object_known(key, AF_IS_MUTEX);
    if (m == NULL || m->owner != t || --m->depth > 0) return;
    const uint64_t token = af_token();
    af_slot* pending = af_slot_at(t, m->pending);
    uint32_t level = 0;
    while (level < t->held_n && t->held[level] != m) level++;
    // Not the innermost: what those inside will turn out to wait for is not known yet.
    if (level + 1 < t->held_n) m->ordered = m->strict = true;
    // Whatever the section holds but its lock word's own access, which follows the slot.
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
