#include "capture/threads/streams.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/order/exclusion.h"
#include "capture/pace/fair.h"
#include "capture/record/encode.h"
#include "capture/record/files.h"
#include "capture/record/skeleton.h"
#include "capture/record/slots.h"
#include "capture/record/windows.h"
#include "capture/state/arena.h"
#include "capture/state/common.h"
#include "capture/state/failure.h"
#include "capture/threads/instructions.h"
#include "capture/threads/registry.h"
#include "capture/threads/roi.h"

enum { INSTRUCTIONS_PER_ACCESS = 3 };  // the documented estimate where nothing counts them

static const size_t SLOT_BYTES = (AF_SLOTS + AF_SPARE_SLOTS) * sizeof(af_slot);

static bool counted;

void af_streams_are_counted(bool are) { counted = are; }

af_thread* af_thread_new(uint32_t parent) {
    const uint32_t number = af_registry_number();
    if (number >= AF_MAX_STREAMS) {
        af_fail("too many threads for one trace", "", E2BIG);
        return NULL;
    }
    const size_t bytes = sizeof(af_thread) + SLOT_BYTES + sizeof(af_encoder) + AF_OUT_BYTES + 64;
    char* memory = af_map(bytes);
    if (memory == NULL) {
        af_fail("out of memory for a thread's buffer", "", ENOMEM);
        return NULL;
    }
    af_thread* t = (af_thread*)memory;
    t->slots = (af_slot*)(memory + sizeof(af_thread));
    t->stream.encoder = (af_encoder*)((char*)t->slots + SLOT_BYTES);
    t->out = (uint8_t*)t->stream.encoder + sizeof(af_encoder);
    AF_UNHEARD(af_encoder_reset(t->stream.encoder));
    t->number = number;
    t->parent = number == 0 ? 0 : parent;
    t->cost = counted ? 0 : INSTRUCTIONS_PER_ACCESS;
    t->budget = AF_PERIOD;
    t->next = t->closed = t->slots;
    af_set_limits(t);
    t->seat = -1;
    for (int i = 0; i < AF_SLOTS + AF_SPARE_SLOTS; i++) t->slots[i].kind = AF_SKIP;
    for (int i = 0; i < AF_OPEN; i++) t->open[i].base = AF_NO_LINE;
    if (!af_windows_prepare(t) || !af_skeleton_prepare(t)) {
        af_fail("out of memory for a thread's lines", "", ENOMEM);
        return NULL;
    }
    af_registry_enter(t);
    af_track_begin(t, &t->stream);
    if (t->skeleton.encoder != NULL) af_track_begin(t, &t->skeleton);
    return t;
}

void af_thread_enter(af_thread* t) {
    af_mine = t;
    t->self = &af_self;
    t->handle = pthread_self();
    atomic_store(&t->tid, (int)syscall(SYS_gettid));
    int created = AF_LIFE_CREATED;
    if (atomic_load(&af_shared->finishing) ||
        !atomic_compare_exchange_strong(&t->life, &created, AF_LIFE_CHANGES))
        return;
    af_windows_enter(t);
    af_event_add(t, AF_THREAD_BEGIN, t->number, 0);
    if (t->begin_token != 0) af_event_add(t, AF_AWAIT, t->begin_token, 0);
    af_roi_enter(t);
    atomic_store(&t->life, AF_LIFE_RUNS);
    if (t->seat < 0) af_fair_enter(t);
    af_count_for_thread();
    af_self = t;
}

void af_thread_settle(af_thread* t) {
    af_roi_settle(t);
    af_event_add(t, AF_THREAD_END, t->number, 0);
    af_drain(t);
    if (af_recording()) {
        af_seal_chunk(t, &t->stream);
        af_skeleton_settle(t);
    }
    af_windows_settle(t);
    af_index_stream* const record = &t->stream.record;
    record->accesses = af_accesses_of(t);
    record->instructions = t->now;
    record->roi_accesses = t->roi_accesses;
    record->roi_instructions = t->roi_instructions;
}

void af_thread_leave(af_thread* t) {
    af_self = NULL;
    int runs = AF_LIFE_RUNS;
    if (atomic_load(&af_shared->finishing) ||
        !atomic_compare_exchange_strong(&t->life, &runs, AF_LIFE_CHANGES)) {
        runs = AF_LIFE_RUNS;
        atomic_compare_exchange_strong(&t->life, &runs, AF_LIFE_STOPPED);
        return;
    }
    af_abandon_held(t);
    if (t->end_token == 0) t->end_token = af_token();
    af_event_add(t, AF_POST, t->end_token, 0);
    af_fair_leave(t);
    af_thread_settle(t);
    af_windows_leave(t);
    af_skeleton_leave(t);
    atomic_store(&t->life, AF_LIFE_SETTLED);
    // The record stays (joins look it up); its buffers are freed: the pages behind the struct.
    const uintptr_t page = 4096;
    const uintptr_t from = ((uintptr_t)(t + 1) + page - 1) & ~(page - 1);
    const uintptr_t to =
        (uintptr_t)t + sizeof(af_thread) + SLOT_BYTES + sizeof(af_encoder) + AF_OUT_BYTES;
    madvise((void*)from, (to - from) & ~(page - 1), MADV_DONTNEED);
}

af_thread* af_attach(void) {
    if (!af_recording()) return NULL;
    if (af_mine != NULL || atomic_load(&af_shared->finishing))
        return NULL;  // quiet, ended, or too late
    af_thread* t = af_thread_new(0);
    if (t == NULL) return NULL;
    af_thread_enter(t);
    return t;
}
