/* Deterministic random numbers addressed by position.
 *
 * Value number i of stream s is a pure function of (s, i), so data made in parallel and choices
 * taken in parallel are the same for every thread count. The mixer is the finaliser of splitmix64.
 */
#ifndef TRAINING_RNG_H
#define TRAINING_RNG_H

#include <stdint.h>

static inline uint64_t rng_at(uint64_t stream, uint64_t index) {
    uint64_t z = (stream + 1) * 0x9e3779b97f4a7c15u + index * 0xd1342543de82ef95u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Uniform in [0, 1) with 53 random bits. */
static inline double rng_unit(uint64_t stream, uint64_t index) {
    return (double)(rng_at(stream, index) >> 11) * 0x1p-53;
}

/* Uniform in [0, bound), bound < 2^32; the bias is below 2^-32. */
static inline uint32_t rng_below(uint64_t stream, uint64_t index, uint32_t bound) {
    return (uint32_t)(((rng_at(stream, index) >> 32) * (uint64_t)bound) >> 32);
}

#endif
