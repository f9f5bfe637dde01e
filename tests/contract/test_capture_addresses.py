"""A trace has the same addresses in every run, even where randomisation cannot be undone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from autofinity._core import trace as core

from .captured import REFUSING, UNDER, Captured, Workshop, can_refuse

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
        events = run.trace.events(stream)
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
    tmp_path: Path,
) -> None:
    workshop = Workshop(tmp_path)
    steady = {"AUTOFINITY_CAPTURE_ROI": "whole", "AUTOFINITY_CAPTURE_ADDRESSES": "steady"}
    larger = {**steady, "OF_NO_USE": "x" * 5000}
    runs = [
        workshop.run(EVERYWHERE, env=env, under=under, replays=0)
        for env in (steady, larger)
        for under in ((), REFUSING, REFUSING)
    ]
    if len({run.address("global") for run in runs}) == 1:
        pytest.skip("this kernel randomises nothing")
    first = touched(runs[0])
    assert sum(map(len, first)) > 30_000
    for run in runs:
        assert core.summary(str(run.folder))["steady_addresses"]
        assert touched(run) == first


def test_addresses_are_the_programs_own_where_that_is_asked_for(tmp_path: Path) -> None:
    run = Workshop(tmp_path).run(EVERYWHERE, env={"AUTOFINITY_CAPTURE_ROI": "whole"})
    assert not core.summary(str(run.folder))["steady_addresses"]
    assert run.counts(0, run.address("global"), 4096 * 8) == (4096, 4096)
