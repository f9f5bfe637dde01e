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

void af_write_index(const af_facts* facts) {
    struct timespec now, cpu;
    clock_gettime(CLOCK_MONOTONIC, &now);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    const uint32_t streams = af_registry_size();
    const size_t body = sizeof(af_index_header) + streams * sizeof(af_index_stream);
    uint8_t* bytes = af_alloc(body + 4);
    af_index_header* header = (af_index_header*)bytes;
    header->magic = AF_INDEX_MAGIC;
    header->version = AF_VERSION;
    header->streams = streams;
    header->flags = (af_roi_chosen() == AF_ROI_PARALLEL ? AF_INDEX_ROI_CANDIDATES : 0) |
                    (af_shared->sampling.on ? AF_INDEX_SAMPLED : 0) |
                    (facts->counted ? AF_INDEX_COUNTED_INSTRUCTIONS : 0) |
                    (facts->steady ? AF_INDEX_STEADY_ADDRESSES : 0);
    header->wall_ns = nanoseconds(now) - nanoseconds(facts->begin);
    header->cpu_ns = nanoseconds(cpu);
    header->roi_begins = af_roi_count();
    header->spins = atomic_load(&af_shared->spins);
    af_index_stream* records = (af_index_stream*)(header + 1);
    for (uint32_t i = 0; i < streams; i++) records[i] = af_registry_at(i)->record;
    const uint32_t crc = af_crc(&af_shared->crc, 0, bytes, body);
    __builtin_memcpy(bytes + body, &crc, 4);
    char path[4200];
    snprintf(path, sizeof path, "%s/index.aft", af_shared->directory);
    af_append(path, bytes, body + 4);
}
