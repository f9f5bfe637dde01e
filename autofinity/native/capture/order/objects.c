#include "capture/order/objects.h"

#include <sched.h>

#include "capture/state/arena.h"

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
    af_shut_mine();
    for (int i = 0; atomic_exchange_explicit(&o->locked, 1, memory_order_acquire); i++)
        if (i > 20) sched_yield();
}

void af_object_unlock(af_object* o) {
    atomic_store_explicit(&o->locked, 0, memory_order_release);
    af_open_mine();
}
