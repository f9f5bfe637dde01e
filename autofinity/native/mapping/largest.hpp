// The largest of some numbers, two at a time: the improving mappers spend most of their time here.
#pragma once

#include <cstring>

namespace autofinity::mapping {

// Compiled to the processor's instructions; a plain loop over doubles is not, because of NaNs.
using Lanes = double __attribute__((vector_size(16)));
constexpr int lane_count = 2;

inline Lanes lanes_at(const double* values) {
    Lanes found;
    std::memcpy(&found, values, sizeof found);
    return found;
}

// Index of the first largest of `size` numbers, at least one, none of them NaN.
inline int first_largest(const double* values, int size) {
    constexpr int chains = 4;  // so that they need not wait for each other
    constexpr int stride = chains * lane_count;
    constexpr int block = 8 * stride;
    double largest = values[0];
    int at = 0;
    int begin = 0;
    for (; begin + block <= size; begin += block) {
        Lanes most[chains];
        for (int chain = 0; chain < chains; ++chain) {
            most[chain] = lanes_at(values + begin + chain * lane_count);
        }
        for (int i = begin + stride; i < begin + block; i += stride) {
            for (int chain = 0; chain < chains; ++chain) {
                const Lanes next = lanes_at(values + i + chain * lane_count);
                most[chain] = next > most[chain] ? next : most[chain];
            }
        }
        for (int chain = 1; chain < chains; ++chain) {
            most[0] = most[chain] > most[0] ? most[chain] : most[0];
        }
        const double of_block = most[0][0] > most[0][1] ? most[0][0] : most[0][1];
        if (of_block > largest) {
            largest = of_block;
            at = begin;
        }
    }
    for (int i = begin; i < size; ++i) {
        if (values[i] > largest) {
            largest = values[i];
            at = i;
        }
    }
    while (values[at] != largest) {
        ++at;
    }
    return at;
}

}  // namespace autofinity::mapping
