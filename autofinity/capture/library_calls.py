"""Cost of one call of a library function: code outside the program is not instrumented.

Other library functions count only as the jump that leads to them. Functions that copy, compare and
search memory are recorded by the runtime (native/capture/interpose/memory.c).
"""

from __future__ import annotations

from typing import NamedTuple


class Cost(NamedTuple):
    """Cost of one call, from the jump that leads to the library to its return."""

    instructions: int
    loads: int
    stores: int


JUMP = Cost(1, 1, 0)
"""Cost of a jump through the procedure linkage table to a function of another object."""

# Means over usual arguments with glibc 2.36, libgcc and libgomp of GCC 12 on x86-64 with AVX2 and
# FMA, by scripts/tools/library_calls.py; malloc, free and the like have half of a pair each;
# __divti3 and the like include the jump to a shared libgcc. The costs of realloc are a guess,
# between calloc's and malloc's. Those of memcpy and the like exclude the part that moves bytes.
# fmt: off
_MEASURED = {
    "exp": (52, 18, 2), "exp2": (42, 10, 0), "expm1": (53, 14, 0), "log": (52, 14, 0),
    "log2": (55, 14, 0), "log10": (89, 21, 3), "log1p": (66, 16, 0), "sin": (70, 21, 4),
    "cos": (69, 21, 4), "tan": (77, 23, 5), "asin": (63, 18, 2), "acos": (69, 19, 2),
    "atan": (60, 20, 3), "sinh": (102, 26, 5), "cosh": (69, 21, 3), "tanh": (95, 21, 2),
    "erf": (53, 16, 2), "erfc": (56, 15, 1), "cbrt": (136, 25, 7), "floor": (3, 2, 0),
    "ceil": (3, 2, 0), "round": (18, 2, 0), "trunc": (3, 2, 0), "rint": (3, 2, 0),
    "nearbyint": (3, 2, 0), "sqrt": (7, 2, 0), "expf": (30, 10, 0), "exp2f": (28, 8, 0),
    "expm1f": (62, 13, 0), "logf": (35, 10, 0), "log2f": (34, 9, 0), "log10f": (74, 17, 3),
    "log1pf": (69, 14, 0), "sinf": (24, 6, 0), "cosf": (24, 7, 0), "tanf": (76, 17, 0),
    "asinf": (44, 12, 0), "acosf": (53, 16, 0), "atanf": (55, 16, 0), "sinhf": (109, 24, 5),
    "coshf": (67, 18, 3), "tanhf": (100, 20, 2), "erff": (45, 16, 2), "erfcf": (48, 16, 2),
    "cbrtf": (126, 21, 7), "floorf": (3, 2, 0), "ceilf": (3, 2, 0), "roundf": (18, 2, 0),
    "truncf": (3, 2, 0), "rintf": (3, 2, 0), "nearbyintf": (3, 2, 0), "sqrtf": (7, 2, 0),
    "pow": (126, 34, 3), "atan2": (145, 25, 6), "hypot": (55, 8, 0), "fmod": (61, 4, 0),
    "fmax": (6, 2, 0), "fmin": (6, 2, 0), "remainder": (96, 15, 8), "fdim": (10, 3, 0),
    "powf": (65, 17, 0), "atan2f": (128, 20, 5), "hypotf": (24, 4, 0), "fmodf": (58, 4, 0),
    "fmaxf": (6, 2, 0), "fminf": (6, 2, 0), "remainderf": (94, 12, 6), "fdimf": (10, 3, 0),
    "__divti3": (27, 3, 1), "__modti3": (33, 5, 3), "__udivti3": (13, 2, 0),
    "__umodti3": (19, 4, 3), "sincos": (116, 28, 9), "sincosf": (46, 8, 2), "lround": (18, 2, 0),
    "llround": (18, 2, 0), "lroundf": (19, 2, 0), "lrint": (3, 2, 0), "ldexp": (50, 7, 1),
    "frexp": (25, 2, 1), "rand": (54, 17, 9), "random": (49, 16, 8),
    "omp_get_thread_num": (6, 4, 0), "omp_get_num_threads": (9, 4, 0), "malloc": (64, 20, 10),
    "calloc": (124, 32, 16), "_Znwm": (72, 22, 11), "free": (64, 20, 10), "_ZdlPv": (72, 22, 11),
    "_ZdlPvm": (72, 22, 11), "realloc": (90, 28, 14), "memcpy": (11, 2, 0),
    "memmove": (11, 2, 0), "memset": (14, 2, 0), "memcmp": (16, 2, 0),
}
# fmt: on
CALL_COSTS = {name: Cost(*cost) for name, cost in _MEASURED.items()}
