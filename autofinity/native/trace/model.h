// Prediction of the next access, common to encoder and decoder.
//
// "Shape" is everything of an access except its line: gap, span, reads, writes, flags. Shapes and
// lines are predicted from earlier ones (finite-context tables, as in VPC-like trace compressors):
// the shapes of the last events replace the program counter, which is not recorded.
#pragma once

#include <stdint.h>

#define AF_FAR_BITS 10
#define AF_LOCAL_BITS 10
#define AF_SHAPE_BITS 10
#define AF_SHAPE1_BITS 8

// Everything of an access except its line, packed so that two shapes compare in two words.
typedef struct af_shape {
    uint64_t timing;  // gap | span << 32 | flags << 48
    uint64_t counts;  // reads | writes << 16, and above them a hash of it all
} af_shape;

typedef struct af_local {
    uint64_t line;
    uint64_t stride;
} af_local;

// The latest events. Places in the tables are hashes of the last few deltas or shapes, which lie in
// one word, AF_STEP bits from each other: anything before the last three has left the word.
typedef struct af_history {
    uint64_t line;  // of the last access
    uint64_t deltas, shapes;
    uint64_t delta_place, shape_place;  // places of the next prediction, in bytes
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
#define AF_STEP 22

static inline uint64_t af_top(uint64_t hash, int bits) { return hash >> (64 - bits); }

// Where the entry of the top `bits` of `hash` begins in a table of entries of 16 bytes.
static inline uint64_t af_offset(uint64_t hash, int bits) { return hash >> (60 - bits) & ~15ull; }

static inline af_shape af_shape_of(uint64_t timing, uint32_t counts) {
    const uint64_t hash = af_top((timing * 31 + counts) * AF_MIX, 32);
    return (af_shape){timing, counts | hash << 32};
}

static inline int af_is_shape(const af_shape* shape, uint64_t timing, uint32_t counts) {
    return shape->timing == timing && (uint32_t)shape->counts == counts;
}

// Place of the model's prediction after `last`.
static inline uint64_t* af_delta_after(af_model* m, const af_history* last) {
    return (uint64_t*)((char*)m->far_delta + last->delta_place);
}

static inline af_shape* af_shape3_after(af_model* m, const af_history* last) {
    return (af_shape*)((char*)m->shape3 + last->shape_place);
}

static inline af_shape* af_shape1_after(af_model* m, const af_history* last) {
    // The highest bits, which belong to the last shape alone.
    return (af_shape*)((char*)m->shape1 +
                       af_offset(last->shapes << (64 - AF_STEP), AF_SHAPE1_BITS));
}

// The history of shapes after one with this hash.
static inline uint64_t af_shapes_with(const af_history* last, af_shape shape) {
    return (last->shapes << AF_STEP) + (shape.counts >> 32);
}

// Place by the last two shapes.
static inline af_local* af_local_of(af_model* m, uint64_t shapes) {
    return (af_local*)((char*)m->local +
                       af_offset(shapes * (AF_MIX << (64 - 2 * AF_STEP)), AF_LOCAL_BITS));
}

static inline void af_learn_local(af_local* local, uint64_t line) {
    local->stride = line - local->line;
    local->line = line;
}

static inline void af_go_on(af_history* last, uint64_t shapes, uint64_t line) {
    last->deltas = (last->deltas << AF_STEP) + (line - last->line);
    last->line = line;
    last->shapes = shapes;
    last->delta_place = af_top(last->deltas * AF_MIX, AF_FAR_BITS) * sizeof(uint64_t);
    last->shape_place = af_offset(shapes * AF_MIX, AF_SHAPE_BITS);
}

static inline uint64_t af_zigzag(uint64_t delta) { return (delta << 1) ^ (0 - (delta >> 63)); }

static inline uint64_t af_unzigzag(uint64_t coded) { return (coded >> 1) ^ (0 - (coded & 1)); }
