"""Instructions, loads and stores of one call of a function of this machine's libraries.

    python scripts/tools/library_calls.py [NAME…]          # needs qemu-x86_64

Makes the table of autofinity/capture/library_calls.py. Each function is called by name with usual
arguments in a program of its own, under QEMU with our plugin, some hundred times more in one run
than in another; the cost of the loop itself is measured with a function that does nothing.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from autofinity._core import trace
from autofinity.capture.binary import BinaryRequest, capture_binary

MORE = 640
_HEAD = """
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
extern void autofinity_roi_begin(void) __attribute__((weak));
extern void autofinity_roi_end(void) __attribute__((weak));
volatile double sink; volatile float sinkf; volatile long sinkl; void* volatile sinkp;
double x[64], y[64]; char from[256], to[256]; float f[64]; long n[64]; __int128 wide[64];
void* __attribute__((noipa)) nothing(void* a) { return a; }
__int128 __divti3(__int128, __int128); __int128 __modti3(__int128, __int128);
unsigned __int128 __udivti3(unsigned __int128, unsigned __int128);
unsigned __int128 __umodti3(unsigned __int128, unsigned __int128);
void* _Znwm(unsigned long); void _ZdlPv(void*); void _ZdlPvm(void*, unsigned long);
int main(int c, char** v) {
    const int times = atoi(v[1]);
    double a, b; float fa, fb; (void)a; (void)b; (void)fa; (void)fb;
    for (int i = 0; i < 64; i++) {
        x[i] = 0.05 + i * 0.0148; y[i] = i * 0.031 - 0.98; f[i] = (float)x[i]; n[i] = 1 + i * 37;
        wide[i] = 12345 * (i + 3);
    }
    for (int pass = 0; pass < 2; pass++) {
        if (pass) autofinity_roi_begin();
        for (int i = 0, k = 0; i < (pass ? times : 8); i++, k = i & 63) { CALL; }
        if (pass) autofinity_roi_end();
    }
}
"""
_ONE = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "erf",
    "erfc",
    "cbrt",
    "sqrt",
]
_ROUNDING = ["floor", "ceil", "round", "trunc", "rint", "nearbyint"]
_LENGTHS = (8, 64, 200)
_TWO = ["pow", "atan2", "hypot", "fmod", "fmax", "fmin", "remainder", "fdim"]
_WIDE = ["__divti3", "__modti3", "__udivti3", "__umodti3"]
_CALLS = {
    **{name: (f"sink = {name}(x[k])", "sink = x[k]") for name in _ONE},
    **{f"{name}f": (f"sinkf = {name}f(f[k])", "sinkf = f[k]") for name in _ONE},
    **{name: (f"sink = {name}(y[k])", "sink = y[k]") for name in _ROUNDING},
    **{f"{name}f": (f"sinkf = {name}f((float)y[k])", "sinkf = (float)y[k]") for name in _ROUNDING},
    **{name: (f"sink = {name}(x[k], x[63 - k])", "sink = x[k] + x[63 - k]") for name in _TWO},
    **{
        f"{name}f": (f"sinkf = {name}f(f[k], f[63 - k])", "sinkf = f[k] + f[63 - k]")
        for name in _TWO
    },
    **{
        name: (f"wide[k] = {name}(wide[63 - k], n[k])", "wide[k] = wide[63 - k] + n[k]")
        for name in _WIDE
    },
    "sincos": ("sincos(x[k], &a, &b); sink = a + b", "sink = x[k]"),
    "sincosf": ("sincosf(f[k], &fa, &fb); sinkf = fa + fb", "sinkf = f[k]"),
    "lround": ("sinkl = lround(y[k])", "sink = y[k]"),
    "llround": ("sinkl = llround(y[k])", "sink = y[k]"),
    "lroundf": ("sinkl = lroundf(f[k])", "sinkf = f[k]"),
    "lrint": ("sinkl = lrint(y[k])", "sink = y[k]"),
    "ldexp": ("sink = ldexp(x[k], 3)", "sink = x[k]"),
    "frexp": ("int e; sink = frexp(x[k], &e)", "sink = x[k]"),
    "rand": ("sinkl = rand()", "sinkl = 1"),
    "random": ("sinkl = random()", "sinkl = 1"),
    "omp_get_thread_num": ("sinkl = omp_get_thread_num()", "sinkl = 1"),
    "omp_get_num_threads": ("sinkl = omp_get_num_threads()", "sinkl = 1"),
    **{f"memcpy {n}": (f"sinkp = memcpy(to, from, {n})", "sinkp = to") for n in _LENGTHS},
    **{f"memmove {n}": (f"sinkp = memmove(to, from, {n})", "sinkp = to") for n in _LENGTHS},
    **{f"memset {n}": (f"sinkp = memset(to, k, {n})", "sinkp = to") for n in _LENGTHS},
    **{f"memcmp {n}": (f"sinkl = memcmp(to, from, {n})", "sinkl = 0") for n in _LENGTHS},
    "malloc": ("sinkp = malloc(64); free(sinkp)", "sinkp = 0; nothing(sinkp)"),
    "calloc": ("sinkp = calloc(8, 8); free(sinkp)", "sinkp = 0; nothing(sinkp)"),
    "_Znwm": ("sinkp = _Znwm(64); _ZdlPv(sinkp)", "sinkp = 0; nothing(sinkp)"),
}
"""Function → (statement that calls the function, the part of the statement that is not the call).
The last three are of pairs: half of each is recorded."""
_PAIRS = {"malloc": "free", "calloc": "free", "_Znwm": "_ZdlPv"}


def measured(call: str) -> tuple[float, float, float]:
    """Instructions, loads and stores of the statement, beyond those of the loop around it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "p.c").write_text(_HEAD.replace("CALL", call))
        command = [
            "gcc",
            "-O1",
            "-fno-builtin",
            "-fopenmp",
            "-w",
            folder / "p.c",
            "-o",
            folder / "p",
        ]
        subprocess.run([*command, "-lm", "-lstdc++"], check=True)
        few, many = (_run(folder, times) for times in (64, 64 + MORE))
        return tuple((b - a) / MORE for a, b in zip(few, many, strict=True))  # type: ignore[return-value]


def _run(folder: Path, times: int) -> tuple[int, int, int]:
    request = BinaryRequest((str(folder / "p"), str(times)), folder / str(times), 1, roi="marks")
    meta = capture_binary(request).meta
    read = trace.read(str(meta.path))
    events = read.events(0)
    accesses = events[events["kind"] == 0]
    instructions = sum(stream.roi_instructions for stream in meta.streams)
    return instructions, int(accesses["reads"].sum()), int(accesses["writes"].sum())


def main() -> None:
    for name, (call, base) in _CALLS.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        of_call, of_base = measured(call), measured(base)
        instructions, loads, stores = (a - b for a, b in zip(of_call, of_base, strict=True))
        if name in _PAIRS:
            instructions, loads, stores = instructions / 2, loads / 2, stores / 2
        # The call itself, and its return address, are the caller's.
        print(
            f'    "{name}": ({instructions - 1:.0f}, {loads:.0f}, {max(stores - 1, 0):.0f}),',
            flush=True,
        )


if __name__ == "__main__":
    main()
