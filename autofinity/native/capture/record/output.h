// A file that is written at once, with a checksum of its content at its end.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "capture/state/attributes.h"

typedef struct af_output {
    char path[4200];
    uint32_t crc;
    size_t n;
    uint8_t bytes[1 << 16];
} af_output;

AF_HIDDEN af_output* af_output_begin(const char* name);
AF_HIDDEN void af_output_bytes(af_output* o, const void* data, size_t size);
AF_HIDDEN void af_output_number(af_output* o, uint64_t value);  // a varint
AF_HIDDEN void af_output_end(af_output* o);
