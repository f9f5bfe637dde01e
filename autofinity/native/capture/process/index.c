#include "capture/process/index.h"

#include <stdio.h>

#include "capture/record/files.h"
#include "capture/state/arena.h"
#include "capture/state/common.h"
#include "capture/threads/registry.h"
#include "capture/threads/roi.h"

static uint64_t nanoseconds(struct timespec t) {
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static af_index_header header_of(const af_facts* facts) {
    struct timespec now, cpu;
    clock_gettime(CLOCK_MONOTONIC, &now);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    return (af_index_header){
        .magic = AF_INDEX_MAGIC,
        .version = AF_VERSION,
        .streams = af_registry_size(),
        .flags = (af_roi_chosen() == AF_ROI_PARALLEL ? AF_INDEX_ROI_CANDIDATES : 0) |
                 (facts->counted ? AF_INDEX_COUNTED_INSTRUCTIONS : 0) |
                 (facts->steady ? AF_INDEX_STEADY_ADDRESSES : 0),
        .wall_ns = nanoseconds(now) - nanoseconds(facts->begin),
        .cpu_ns = nanoseconds(cpu),
        .roi_begins = af_roi_count(),
        .spins = atomic_load(&af_shared->spins)};
}

static void write_index(const char* name, af_index_header header, bool skeleton) {
    const size_t body = sizeof header + header.streams * sizeof(af_index_stream);
    uint8_t* bytes = af_alloc(body + 4);
    *(af_index_header*)bytes = header;
    af_index_stream* records = (af_index_stream*)(bytes + sizeof header);
    for (uint32_t i = 0; i < header.streams; i++) {
        const af_thread* const t = af_registry_at(i);
        records[i] = (skeleton ? &t->skeleton : &t->stream)->record;
    }
    const uint32_t crc = af_crc(&af_shared->crc, 0, bytes, body);
    __builtin_memcpy(bytes + body, &crc, 4);
    char path[4200];
    snprintf(path, sizeof path, "%s%s", af_shared->directory, name);
    af_append(path, bytes, body + 4);
}

void af_write_index(const af_facts* facts) {
    af_index_header header = header_of(facts);
    if (af_shared->sampling.on) header.flags |= AF_INDEX_SAMPLED;
    write_index("/index.aft", header, false);
}

void af_write_skeleton_index(const af_facts* facts) {
    write_index(AF_SKELETON_FOLDER "/index.aft", header_of(facts), true);
}
