// A unit's number is its place in the order of iterations, whichever thread took it: for dynamic
// schedules the iteration over the chunk size; for guided ones by following libgomp's sequence of
// sizes; for sections their own number. Instances of more than 2^20 units take several numbers.
#include "capture/interpose/openmp/units.h"

#include "capture/interpose/openmp/team.h"
#include "capture/order/awaiting.h"
#include "capture/order/objects.h"
#include "capture/record/slots.h"
#include "capture/state/arena.h"

enum { UNIT_BITS = 20, SCHEDULE_STATIC = 1, SCHEDULE_DYNAMIC = 2, SCHEDULE_GUIDED = 3 };

// All threads of a team meet its worksharing constructs in the same order, so the number of the
// construct within the team names it.
static uint64_t instance_of(af_thread* t, uint64_t units) {
    const uint64_t share = t->share++;
    af_object* o = af_object_of(t->team->id << 24 ^ share, AF_IS_EDGE, sizeof *o);
    af_object_lock(o);
    if (o->token == 0) o->token = af_ids((units >> UNIT_BITS) + 1);
    const uint64_t instance = o->token;
    af_object_unlock(o);
    return instance;
}

static uint64_t iterations(const af_loop* l) {
    if (l->is_unsigned) {
        const uint64_t step = l->up ? l->step : 0 - l->step;
        const uint64_t length = l->up ? l->end - l->start : l->start - l->end;
        return (l->up ? l->start < l->end : l->start > l->end) ? (length - 1) / step + 1 : 0;
    }
    const int64_t start = (int64_t)l->start, end = (int64_t)l->end, step = (int64_t)l->step;
    if (step > 0) return start < end ? (uint64_t)((end - start - 1) / step + 1) : 0;
    return start > end ? (uint64_t)((start - end - 1) / -step + 1) : 0;
}

// Waits, with a limit, until the whole team is there: otherwise the first thread to wake would take
// all the work.
static void gather(af_thread* t, int team_size) {
    enum { PATIENCE_US = 500000, NAP_US = 50 };
    const uint64_t need = (uint64_t)team_size;
    if (atomic_load(&t->team->arrived) >= need) return;
    af_block_at(t, &t->team->arrived, need);
    for (int waited = 0; waited < PATIENCE_US; waited += NAP_US) {
        if (atomic_load(&t->team->arrived) >= need) break;
        af_sleep(NAP_US);
    }
    af_unblock(t);
}

void af_begin_share(af_thread* t, const af_loop* loop, int team_size) {
    t->loop.active = false;
    if (t->team == NULL) return;
    af_loop made = *loop;
    if (made.kind == AF_RUNTIME) {
        int kind = SCHEDULE_STATIC, chunk = 1;
        AF_REAL(omp_get_schedule)(&kind, &chunk);
        kind &= 0xff;  // remove the monotonic modifier
        made.kind = kind == SCHEDULE_DYNAMIC  ? AF_DYNAMIC
                    : kind == SCHEDULE_GUIDED ? AF_GUIDED
                                              : AF_STATIC;
        made.chunk = (uint64_t)(chunk < 1 ? 1 : chunk);
    }
    if (made.chunk == 0) made.chunk = 1;
    made.total = iterations(&made);
    made.instance = instance_of(t, made.total / made.chunk);
    made.team_size = (uint32_t)team_size;
    made.guided_position = made.guided_ordinal = 0;
    made.active = made.kind != AF_STATIC && team_size > 1;
    t->loop = made;
    if (made.active) gather(t, team_size);
}

void af_begin_sections(af_thread* t, int size) {
    t->loop.active = false;
    if (t->team == NULL) return;
    t->loop.instance = instance_of(t, 1);
    t->loop.active = size > 1;
    if (t->loop.active) gather(t, size);
}

void af_begin_unit(af_thread* t, uint64_t ordinal) {
    t->unit = ordinal + 1;
    t->unit_value = (t->loop.instance << UNIT_BITS) + ordinal;
    af_event_add(t, AF_UNIT_BEGIN, t->unit_value, 0);
    af_forget_awaited(t);
}

void af_end_unit(af_thread* t) {
    if (t->unit == 0) return;
    af_event_add(t, AF_UNIT_END, t->unit_value, 0);
    af_forget_awaited(t);
    t->unit = 0;
}

void af_end_share(af_thread* t) {
    af_end_unit(t);
    t->loop.active = false;
}

void af_took_chunk(af_thread* t, bool got, uint64_t at) {
    af_end_unit(t);
    af_loop* l = &t->loop;
    if (!got || !l->active) return;
    const uint64_t iteration =
        l->is_unsigned ? (l->up ? (at - l->start) / l->step : (l->start - at) / (0 - l->step))
                       : (uint64_t)(((int64_t)at - (int64_t)l->start) / (int64_t)l->step);
    uint64_t ordinal = iteration / l->chunk;
    if (l->kind == AF_GUIDED) {
        while (l->guided_position < iteration) {
            const uint64_t left = l->total - l->guided_position;
            uint64_t size = (left + l->team_size - 1) / l->team_size;
            if (size < l->chunk) size = l->chunk;
            l->guided_position += size < left ? size : left;
            l->guided_ordinal++;
        }
        ordinal = l->guided_ordinal;
    }
    af_begin_unit(t, ordinal);
}
