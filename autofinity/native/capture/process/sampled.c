#include "capture/process/sampled.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/process/pages.h"
#include "capture/record/cuts.h"
#include "capture/record/files.h"
#include "capture/record/output.h"
#include "capture/record/skeleton.h"
#include "capture/state/common.h"
#include "capture/state/failure.h"
#include "capture/threads/meetings.h"
#include "capture/threads/registry.h"
#include "capture/threads/roi.h"
#include "capture/warm/first_touch.h"
#include "capture/warm/history.h"

bool af_sampled_begin(const char* wanted) {
    if (!af_cuts_ask(wanted)) {
        af_fail("AUTOFINITY_CAPTURE_SAMPLE is not SPACING,LENGTH,SEED:", wanted, EINVAL);
        return false;
    }
    if (af_shared->sampling.on && af_history_open() && af_first_touch_open())
        return af_skeleton_open();
    af_fail("out of memory at the start", "", ENOMEM);
    return false;
}

// A window that the end of the region cut short covers little of its part of the work.
static bool is_kept(uint32_t window, uint64_t region_end) {
    const af_window w = af_cuts_window(window);
    return w.work_begin < region_end &&
           (window == 0 || w.work_end - w.work_begin >= af_shared->sampling.length / 4);
}

static af_window_stream part_of(const af_thread* t, uint32_t window) {
    if (t != NULL)
        for (uint32_t i = 0; i < t->windows_n && t->windows[i].window <= window; i++)
            if (t->windows[i].window == window) return t->windows[i].stream;
    return (af_window_stream){0};
}

static void write_windows(const uint64_t* pages, bool skeleton) {
    af_output* const o = af_output_begin("windows.afs");
    const uint32_t streams = af_registry_size(), meetings = af_meetings_kept();
    af_windows_header header = {.magic = AF_WINDOWS_MAGIC,
                                .version = AF_SAMPLED_VERSION,
                                .streams = streams,
                                .meetings = meetings,
                                .interval_work = af_history_interval_work(),
                                .intervals = af_history_intervals(),
                                .stamps = atomic_load(&af_shared->sampling.clock) + 1,
                                .flags = skeleton ? AF_WINDOWS_SKELETON : 0};
    if (meetings > 0) {
        const af_met last = af_meetings_at(meetings - 1);
        header.work = last.work;
        header.met = last.met;
    }
    for (uint32_t w = 0; w < af_cuts_windows(); w++) header.windows += is_kept(w, header.work);
    af_output_bytes(o, &header, sizeof header);
    for (uint32_t w = 0; w < af_cuts_windows(); w++) {
        if (!is_kept(w, header.work)) continue;
        af_window window = af_cuts_window(w);
        window.pages = pages[2 * w];
        af_output_bytes(o, &window, sizeof window);
        for (uint32_t i = 0; i < streams; i++) {
            const af_window_stream part = part_of(af_registry_at(i), w);
            af_output_bytes(o, &part, sizeof part);
        }
    }
    for (uint32_t m = 0; m < meetings; m++) {
        const af_met met = af_meetings_at(m);
        const af_meeting_record record = {met.work, met.met};
        af_output_bytes(o, &record, sizeof record);
        for (uint32_t i = 0; i < streams; i++) {
            const uint64_t instructions = i < met.threads ? met.instructions[i] : 0;
            af_output_bytes(o, &instructions, sizeof instructions);
        }
    }
    for (uint32_t i = 0; i < header.intervals; i++)
        af_output_bytes(o, af_history_interval(i), sizeof(af_interval));
    af_output_end(o);
}

static void remove_skeleton(void) {
    char path[AF_PATH_BYTES];
    for (uint32_t i = 0; i < af_registry_size(); i++) {
        const af_thread* const t = af_registry_at(i);
        if (t == NULL) continue;
        af_track_path(t, &t->skeleton, path);
        syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    }
    snprintf(path, sizeof path, "%s" AF_SKELETON_FOLDER, af_shared->directory);
    syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

void af_sampled_write(const af_facts* facts) {
    if (!af_shared->sampling.on) return;
    af_cuts_region(false);
    const bool skeleton = !af_skeleton_given_up();
    if (skeleton)
        af_write_skeleton_index(facts);
    else
        remove_skeleton();
    af_roi_sum_up();
    const uint64_t* const pages = af_pages_write();
    if (pages == NULL)
        af_fail("out of memory for the pages of a sampled capture", "", ENOMEM);
    else
        write_windows(pages, skeleton);
}
