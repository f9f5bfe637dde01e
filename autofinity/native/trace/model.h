// What encoder and decoder both expect of the next access.
//
// "Shape" is everything of an access but its line: gap, span, reads, writes, flags. Shapes and
// lines are predicted from what came before (finite-context tables, as VPC-like trace compressors
// have them): the shapes of the last events stand in for the program counter that is not recorded.
#ifndef AUTOFINITY_TRACE_MODEL_H
#define AUTOFINITY_TRACE_MODEL_H

#include <stdint.h>

#define AF_FAR_BITS 12
#define AF_LOCAL_BITS 10
#define AF_SHAPE_BITS 10
#define AF_SHAPE1_BITS 8

// Everything of an access but its line, packed so that two of them compare in two words.
typedef struct af_shape {
    uint64_t timing;  // gap | span << 32 | flags << 48
    uint32_t counts;  // reads | writes << 16
    uint32_t hash;
} af_shape;

typedef struct af_local {
    uint64_t line;
    uint64_t stride;
} af_local;

// State that encoder and decoder carry through a chunk; zeroed at its start.
typedef struct af_model {
    uint64_t line;                          // of the last access
    uint64_t delta[3];                      // last, last but one, …
    uint32_t shape[3];                      // hashes of the last shapes
    uint64_t value[16];                     // last value of each kind
    uint64_t far_delta[1u << AF_FAR_BITS];  // by the last three deltas: next delta
    af_local local[1u << AF_LOCAL_BITS];    // by shape and the one before: line and stride
    af_shape shape3[1u << AF_SHAPE_BITS];   // by the last three shapes: next shape
    af_shape shape1[1u << AF_SHAPE1_BITS];  // by the last shape: next shape
} af_model;

static inline uint32_t af_mix(uint64_t x, int bits) {
    return (uint32_t)((x * 0x9e3779b97f4a7c15ull) >> (64 - bits));
}

static inline af_shape af_shape_of(uint32_t gap, uint16_t span, uint16_t reads, uint16_t writes,
                                   uint8_t flags) {
    af_shape shape;
    shape.timing = gap | (uint64_t)span << 32 | (uint64_t)flags << 48;
    shape.counts = reads | (uint32_t)writes << 16;
    shape.hash = af_mix(shape.timing * 31 + shape.counts, 32);
    return shape;
}

static inline uint32_t af_shape3_slot(const af_model* m) {
    return af_mix(
        m->shape[0] + (uint64_t)m->shape[1] * 0x10001u + (uint64_t)m->shape[2] * 0x3000007u,
        AF_SHAPE_BITS);
}

static inline uint32_t af_shape1_slot(const af_model* m) {
    return af_mix(m->shape[0], AF_SHAPE1_BITS);
}

static inline uint32_t af_far_slot(const af_model* m) {
    return af_mix(m->delta[0] + m->delta[1] * 0x85ebca6bull + m->delta[2] * 0xc2b2ae3d27d4ebull,
                  AF_FAR_BITS);
}

static inline uint32_t af_local_slot(const af_model* m, uint32_t shape_hash) {
    return af_mix(shape_hash + (uint64_t)m->shape[0] * 0x10001u, AF_LOCAL_BITS);
}

static inline void af_learn(af_model* m, af_shape shape, uint64_t line, uint32_t far_slot,
                            uint32_t local_slot, uint32_t slot3, uint32_t slot1) {
    const uint64_t delta = line - m->line;
    m->far_delta[far_slot] = delta;
    m->local[local_slot].stride = line - m->local[local_slot].line;
    m->local[local_slot].line = line;
    m->shape3[slot3] = shape;
    m->shape1[slot1] = shape;
    m->line = line;
    m->delta[2] = m->delta[1];
    m->delta[1] = m->delta[0];
    m->delta[0] = delta;
    m->shape[2] = m->shape[1];
    m->shape[1] = m->shape[0];
    m->shape[0] = shape.hash;
}

static inline int af_same_shape(const af_shape* a, const af_shape* b) {
    return a->timing == b->timing && a->counts == b->counts;
}

static inline uint64_t af_zigzag(uint64_t delta) { return (delta << 1) ^ (0 - (delta >> 63)); }

static inline uint64_t af_unzigzag(uint64_t coded) { return (coded >> 1) ^ (0 - (coded & 1)); }

#endif
