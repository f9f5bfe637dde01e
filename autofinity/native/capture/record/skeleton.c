// Skeletons are dropped where threads lock or signal so often that a skeleton would be as large as
// a whole trace: then only windows show the cost of waiting.
#include "capture/record/skeleton.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/record/encode.h"
#include "capture/record/files.h"
#include "capture/state/arena.h"
#include "capture/state/common.h"
#include "capture/state/failure.h"
#include "capture/warm/history.h"

enum { MOST_EVENTS = 1 << 22 };  // of all threads: 100 MiB in memory

static struct {
    _Atomic uint64_t events;  // sealed
    _Atomic bool given_up;
} skeleton;

bool af_skeleton_open(void) {
    char path[4200];
    snprintf(path, sizeof path, "%s" AF_SKELETON_FOLDER, af_shared->directory);
    if (syscall(SYS_mkdirat, AT_FDCWD, path, 0755) == 0) return true;
    af_fail("cannot make", path, errno);
    return false;
}

bool af_skeleton_prepare(af_thread* t) {
    if (!af_shared->sampling.on) return true;
    t->skeleton.encoder = af_map(sizeof(af_encoder));
    if (t->skeleton.encoder == NULL) return false;
    AF_UNHEARD(af_encoder_reset(t->skeleton.encoder));
    t->sketched = t->slots;
    return true;
}

bool af_skeleton_given_up(void) {
    return atomic_load_explicit(&skeleton.given_up, memory_order_relaxed);
}

static void mark(af_thread* t) {
    if (t->got_to - t->marked < af_history_interval_work()) return;
    t->marked = t->got_to;
    const af_slot slot = {.value = t->got_to, .start = t->now, .kind = AF_COMPUTE};
    af_encode_slot(t, &t->skeleton, &slot);
}

void af_skeleton_take(af_thread* t) {
    const af_slot* const end = t->next;
    if (!af_skeleton_given_up()) {
        const uint64_t before = t->skeleton.record.events;
        bool ends = false;  // it ends here, with a mark before
        for (const af_slot* s = t->sketched; s < end; s++) {
            if (s->kind == AF_ACCESS) continue;
            ends = s->kind == AF_THREAD_END;
            if (ends) mark(t);
            af_encode_slot(t, &t->skeleton, s);
        }
        if (!ends) mark(t);
        const uint64_t sealed = t->skeleton.record.events - before;
        if (sealed > 0 && atomic_fetch_add(&skeleton.events, sealed) + sealed > MOST_EVENTS)
            atomic_store(&skeleton.given_up, true);
    }
    t->sketched = t->next;
}

void af_skeleton_settle(af_thread* t) {
    if (t->skeleton.encoder != NULL && !af_skeleton_given_up()) af_seal_chunk(t, &t->skeleton);
}

void af_skeleton_leave(af_thread* t) {
    if (t->skeleton.encoder != NULL) af_unmap(t->skeleton.encoder, sizeof(af_encoder));
    t->skeleton.encoder = NULL;
}
