#include "capture/pace/polling.h"

#include <sched.h>

#include "capture/pace/fair.h"
#include "capture/state/common.h"

void af_end_polling(af_thread* t) {
    if (t->polls > AF_PATIENT_POLLS) {
        af_count_spins(t->polls - AF_PATIENT_POLLS);
        af_unblock(t);
    }
    t->polls = 0;
}

// Forgets the window when anything except polling was recorded since.
void af_stop_polling(af_thread* t) {
    if (af_position(t) != t->window_seq) {
        af_end_polling(t);
        t->window_n = 0;
    }
}

bool af_polling(af_thread* t, uintptr_t address, uint64_t value, bool* woke) {
    *woke = false;
    af_stop_polling(t);
    for (uint32_t i = 0; i < t->window_n; i++) {
        if (t->window[i].address != address) continue;
        if (t->window[i].value != value) {
            *woke = t->polls > 0;
            af_end_polling(t);
            t->window_n = 0;
            return false;
        }
        t->polls++;
        if (t->polls <= AF_PATIENT_POLLS) return false;
        if (t->polls == AF_PATIENT_POLLS + 1) {
            af_block(t);
            t->window_now = t->now;
        }
        t->now = t->window_now;
        return true;
    }
    return false;
}

void af_rest(const af_thread* t) {
    if (t->polls < 64)
        sched_yield();
    else
        af_sleep(t->polls < 1024 ? 50 : 500);
}

void af_polled(af_thread* t, uintptr_t address, uint64_t value) {
    for (uint32_t i = 0; i < t->window_n; i++) {
        if (t->window[i].address == address) {
            t->window_seq = af_position(t);
            return;
        }
    }
    if (t->window_n == AF_WINDOW) {
        af_end_polling(t);
        t->window_n = 0;
    }
    t->window[t->window_n].address = address;
    t->window[t->window_n++].value = value;
    t->window_seq = af_position(t);
}
