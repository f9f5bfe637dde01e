"""A trace has the same addresses in every run, even where randomisation cannot be undone."""

import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from workshop import REFUSING, UNDER, Captured, Workshop, can_refuse

from autofinity.capture.build import runtime_folder

PT_LOAD = 1

steadied = pytest.mark.skipif(
    bool(UNDER) or "[stack]" not in Path("/proc/self/maps").read_text(),
    reason="valgrind, or this kernel, does not lay programs out as Linux does",
)

# Globals, heap, mappings, the stacks of both threads and the heap of the second.
EVERYWHERE = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static long global[4096];
static void touch(volatile long* p, long n) { for (long i = 0; i < n; i++) p[i] += i; }
static void everywhere(void) {
    long local[512];
    long *small = malloc(3000 * 8), *large = malloc(1 << 20);
    touch(global, 4096); touch(local, 512);
    touch(small, 3000); touch(large, 1 << 17);
}
static void* work(void* p) { everywhere(); return p; }
int main(void) {
    pthread_t t;
    everywhere();
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    printf("global %p\n", (void*)global);
}
"""


def touched(run: Captured) -> list[list[tuple[int, int, int]]]:
    """(line, reads, writes) of every stream. How accesses are put in runs may differ."""
    streams = []
    for stream in range(run.trace.streams):
        events = run.raw(stream)
        accesses = events[events["kind"] == 0]
        lines, at = np.unique(accesses["value"], return_inverse=True)
        counts = [np.bincount(at, accesses[what]).astype(int) for what in ("reads", "writes")]
        streams.append(
            list(zip(lines.tolist(), *(count.tolist() for count in counts), strict=True))
        )
    return streams


@steadied
@can_refuse
def test_a_trace_has_the_same_addresses_wherever_the_kernel_puts_the_program(
    shop: Workshop,
) -> None:
    steady = {"AUTOFINITY_CAPTURE_ROI": "whole", "AUTOFINITY_CAPTURE_ADDRESSES": "steady"}
    larger = {**steady, "OF_NO_USE": "x" * 5000}
    runs = [
        shop.run(EVERYWHERE, env=env, under=under, replays=0, again=again)
        for env in (steady, larger)
        for again, under in enumerate(((), REFUSING, REFUSING))
    ]
    if len({run.address("global") for run in runs}) == 1:
        pytest.skip("this kernel randomises nothing")
    first = touched(runs[0])
    assert sum(map(len, first)) > 30_000
    for run in runs:
        assert run.summary["steady_addresses"]
        assert touched(run) == first


def test_addresses_are_the_programs_own_where_that_is_asked_for(shop: Workshop) -> None:
    run = shop.run(EVERYWHERE, env={"AUTOFINITY_CAPTURE_ROI": "whole"}, replays=0)
    assert not run.summary["steady_addresses"]
    assert run.counts(0, run.address("global"), 4096 * 8) == (4096, 4096)


STEADY = r"""
#include <stdio.h>
#include <stdlib.h>
static long fixed[64];
int main(int c, char** v) {
    long local = 1, *small = malloc(64), *big = malloc(1 << 20);
    for (int i = 0; i < 64; i++) fixed[i] = big[i * 64] = small[i % 8] = local += i;
    printf("%s %p %p %p %p\n", v[1], (void*)fixed, (void*)&local, (void*)small, (void*)big);
    return fixed[63] == 0;
}
"""


def no_fixed_addresses() -> bool:
    """Whether the kernel or a container forbids to switch address randomisation off."""
    return subprocess.run(["setarch", "-R", "true"], check=False).returncode != 0


@pytest.mark.skipif(
    shutil.which("setarch") is None or no_fixed_addresses(),
    reason="address randomisation cannot be switched off here, or setarch is missing",
)
def test_every_capture_of_a_program_sees_it_at_the_same_addresses(shop: Workshop) -> None:
    first, second = (shop.run(STEADY, "the same arguments", replays=0, again=i) for i in range(2))
    assert first.stdout.startswith("the same arguments 0x")
    assert first.stdout == second.stdout
    assert first.raw(0).tobytes() == second.raw(0).tobytes()


def test_the_runtime_is_smaller_than_a_huge_page() -> None:
    # Linux gives a larger library an address for huge pages, and mappings of the program then
    # come into the gap before it, between the libraries.
    file = (runtime_folder() / "libtsan.so.2").read_bytes()
    (at,) = struct.unpack_from("<Q", file, 32)
    (count,) = struct.unpack_from("<H", file, 56)
    ends = []
    for number in range(count):
        kind, _, _, address, _, _, size, _ = struct.unpack_from("<IIQQQQQQ", file, at + 56 * number)
        if kind == PT_LOAD:
            ends.append(address + size)
    assert 0 < max(ends) < 2 << 20
