#include "capture/record/output.h"

#include <stdio.h>

#include "capture/record/files.h"
#include "capture/state/arena.h"
#include "capture/state/common.h"

af_output* af_output_begin(const char* name) {
    af_output* const o = af_alloc(sizeof *o);
    snprintf(o->path, sizeof o->path, "%s/%s", af_shared->directory, name);
    return o;
}

static void flush(af_output* o) {
    o->crc = af_crc(&af_shared->crc, o->crc, o->bytes, o->n);
    af_append(o->path, o->bytes, o->n);
    o->n = 0;
}

void af_output_bytes(af_output* o, const void* data, size_t size) {
    const uint8_t* const from = data;
    for (size_t i = 0; i < size; i++) {
        if (o->n == sizeof o->bytes) flush(o);
        o->bytes[o->n++] = from[i];
    }
}

void af_output_number(af_output* o, uint64_t value) {
    for (; value >= 0x80; value >>= 7) af_output_bytes(o, &(uint8_t){(uint8_t)(value | 0x80)}, 1);
    af_output_bytes(o, &(uint8_t){(uint8_t)value}, 1);
}

void af_output_end(af_output* o) {
    flush(o);
    af_append(o->path, &o->crc, sizeof o->crc);
}
