#include "capture/threads/registry.h"

#include "capture/state/arena.h"

static struct {
    _Atomic uint32_t size;
    _Atomic(af_thread*)* threads;  // room for AF_MAX_STREAMS, backed page by page
} registry;

bool af_registry_open(void) {
    registry.threads = af_map(AF_MAX_STREAMS * sizeof *registry.threads);
    return registry.threads != NULL;
}

uint32_t af_registry_number(void) { return atomic_fetch_add(&registry.size, 1); }

void af_registry_enter(af_thread* t) {
    atomic_store_explicit(&registry.threads[t->number], t, memory_order_release);
}

uint32_t af_registry_size(void) {
    const uint32_t size = atomic_load(&registry.size);
    return size < AF_MAX_STREAMS ? size : AF_MAX_STREAMS;
}

af_thread* af_registry_at(uint32_t number) {
    return atomic_load_explicit(&registry.threads[number], memory_order_acquire);
}

af_thread* af_registry_find(pthread_t handle) {
    // Handles are reused after a join: the newest thread that is not joined yet is meant.
    for (uint32_t i = af_registry_size(); i-- > 0;) {
        af_thread* t = af_registry_at(i);
        if (t != NULL && !t->joined && pthread_equal(t->handle, handle)) return t;
    }
    return NULL;
}
