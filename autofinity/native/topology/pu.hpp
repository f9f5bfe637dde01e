// A hardware thread and the parts of the machine that it lies in.
#pragma once

#include <cstdint>

namespace autofinity::topology {

// Logical numbers, except `os`, the kernel's.
struct Pu {
    std::int64_t os;
    int smt_rank;
    int core;
    int l2;
    int llc;
    int socket;
    int node;
    int kind = 0;  // kind of core: larger is faster
};

}  // namespace autofinity::topology
