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

// What came last, as what the next places in the tables are made of: a place is a hash of the last
// few deltas or shapes, and each of those adds a multiple of itself to three of them.
typedef struct af_history {
    uint64_t line;                      // of the last access
    uint64_t deltas, deltas1, deltas2;  // sums for the next place, the one after it and so on
    uint64_t shapes, shapes1, shapes2;
    uint64_t shape;   // the last shape's alone
    uint64_t before;  // what it adds to the place of line and stride
} af_history;

// State that encoder and decoder carry through a chunk; zeroed at its start.
typedef struct af_model {
    af_history last;
    uint64_t value[16];                     // last value of each kind
    uint64_t far_delta[1u << AF_FAR_BITS];  // by the last three deltas: next delta
    af_local local[1u << AF_LOCAL_BITS];    // by shape and the one before: line and stride
    af_shape shape3[1u << AF_SHAPE_BITS];   // by the last three shapes: next shape
    af_shape shape1[1u << AF_SHAPE1_BITS];  // by the last shape: next shape
} af_model;

#define AF_MIX 0x9e3779b97f4a7c15ull
#define AF_DELTA1 (AF_MIX * 0x85ebca6bull)
#define AF_DELTA2 (AF_MIX * 0xc2b2ae3d27d4ebull)
#define AF_SHAPE1 (AF_MIX * 0x10001u)
#define AF_SHAPE2 (AF_MIX * 0x3000007u)

static inline uint64_t af_top(uint64_t sum, int bits) { return sum >> (64 - bits); }

// Where the entry of the top `bits` of `sum` begins in a table of entries of 16 bytes.
static inline uint64_t af_offset(uint64_t sum, int bits) { return sum >> (60 - bits) & ~15ull; }

static inline af_shape af_shape_of(uint64_t timing, uint32_t counts) {
    const af_shape shape = {timing, counts, (uint32_t)af_top((timing * 31 + counts) * AF_MIX, 32)};
    return shape;
}

static inline int af_is_shape(const af_shape* shape, uint64_t timing, uint32_t counts) {
    return shape->timing == timing && shape->counts == counts;
}

// Where the model keeps what it expects after `last`.
static inline uint64_t* af_delta_after(af_model* m, const af_history* last) {
    return &m->far_delta[af_top(last->deltas, AF_FAR_BITS)];
}

static inline af_shape* af_shape3_after(af_model* m, const af_history* last) {
    return (af_shape*)((char*)m->shape3 + af_offset(last->shapes, AF_SHAPE_BITS));
}

static inline af_shape* af_shape1_after(af_model* m, const af_history* last) {
    return (af_shape*)((char*)m->shape1 + af_offset(last->shape, AF_SHAPE1_BITS));
}

static inline af_local* af_local_after(af_model* m, const af_history* last, uint32_t shape_hash) {
    return (af_local*)((char*)m->local +
                       af_offset(last->before + shape_hash * AF_MIX, AF_LOCAL_BITS));
}

static inline void af_learn(af_model* m, af_history* last, af_shape shape, uint64_t line) {
    const uint64_t delta = line - last->line;
    af_local* const local = af_local_after(m, last, shape.hash);
    local->stride = line - local->line;
    local->line = line;
    *af_delta_after(m, last) = delta;
    *af_shape3_after(m, last) = shape;
    *af_shape1_after(m, last) = shape;
    last->line = line;
    last->deltas = last->deltas1 + delta * AF_MIX;
    last->deltas1 = last->deltas2 + delta * AF_DELTA1;
    last->deltas2 = delta * AF_DELTA2;
    last->shape = shape.hash * AF_MIX;
    last->before = shape.hash * AF_SHAPE1;
    last->shapes = last->shapes1 + last->shape;
    last->shapes1 = last->shapes2 + last->before;
    last->shapes2 = shape.hash * AF_SHAPE2;
}

static inline uint64_t af_zigzag(uint64_t delta) { return (delta << 1) ^ (0 - (delta >> 63)); }

static inline uint64_t af_unzigzag(uint64_t coded) { return (coded >> 1) ^ (0 - (coded & 1)); }

#endif
