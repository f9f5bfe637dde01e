"""Unmodified binaries under QEMU miss a first-level cache as often as compiled programs do."""

from collections import OrderedDict
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from abstract_replay import replay
from captured_binary import capture, captured, needs_qemu
from workshop import Captured, Workshop

from autofinity.capture.binary import BinaryRequest, capture_binary
from autofinity.capture.build import build_program
from autofinity.capture.compilers import Compilers
from autofinity.capture.request import CaptureRequest, arguments_of
from autofinity.capture.suite_capture import capture_suite
from autofinity.resources import shipped
from autofinity.trace.manifest import load_suite


def first_level_misses(run: Captured, stream: int) -> npt.NDArray[np.uint64]:
    """Lines that miss, each time, in a 32 KiB, 8-way LRU cache of the stream's own."""
    sets: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(64)]
    events = run.raw(stream)
    misses = []
    for line in events["value"][events["kind"] == 0].tolist():
        ways = sets[line % 64]
        if line in ways:
            ways.move_to_end(line)
            continue
        misses.append(line)
        ways[line] = None
        if len(ways) > 8:
            ways.popitem(last=False)
    return np.array(misses, dtype=np.uint64)


REGIONS = r"""
#include <pthread.h>
#include <stdio.h>
enum { N = 12000, SMALL = 1000 };
static _Alignas(64) double stream[2][N], table[2][SMALL], random_[2][N];
static void* work(void* p) {
    const long me = (long)p;
    unsigned x = 1 + me;
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < N; i++) {
            x = x * 1664525u + 1013904223u;
            stream[me][i] += table[me][i % SMALL];
            random_[me][x % N] += i;
        }
    return 0;
}
int main(void) {
    pthread_t t[2];
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, work, (void*)i);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    printf("stream %p table %p random %p\n", (void*)stream, (void*)table, (void*)random_);
}
"""


@needs_qemu
def test_first_level_misses_by_array_are_those_of_the_compiled_program(
    shop: Workshop, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    flags = "-O2 -pthread -no-pie"  # the same addresses wherever it runs
    compiled = shop.run(REGIONS, flags=flags)
    capfd.readouterr()
    meta = capture(tmp_path, REGIONS, flags)
    binary = replace(captured(meta), stdout=capfd.readouterr().out)
    for thread in (1, 2):
        lines = [(run, first_level_misses(run, thread)) for run in (compiled, binary)]
        for name, size in (("stream", 2 * 12000 * 8), ("table", 2 * 1000 * 8), ("random", 192000)):
            expected, found = (
                np.count_nonzero((missed >= first >> 6) & (missed <= (first + size - 1) >> 6))
                for run, missed in lines
                for first in (run.address(name),)
            )
            assert expected > 100, (name, thread)
            assert found == pytest.approx(expected, rel=0.05), (name, thread)


@needs_qemu
@pytest.mark.parametrize("name", ["cg", "stencil"])
def test_first_level_misses_of_a_training_program_are_those_of_the_compiled_one(
    name: str, tmp_path: Path
) -> None:
    suite = load_suite(shipped("training", "suite.toml"))
    spec = suite.programs[name]
    (meta,) = capture_suite(suite, [name], 4, "tiny", tmp_path)
    plain = build_program(suite, spec, Compilers.find({}), tmp_path / ".builds", instrumented=False)
    argv = arguments_of(CaptureRequest(suite, spec, plain, 4, "tiny", tmp_path))
    other = capture_binary(BinaryRequest(argv, tmp_path, 4, spec.roi)).meta
    # The main thread's stream holds the start of the process, which compiled programs do not see.
    compiled, binary = captured(meta), captured(other)
    expected, found = (
        sum(len(first_level_misses(run, worker)) for worker in (1, 2, 3))
        for run in (compiled, binary)
    )
    assert expected > 10_000
    assert found == pytest.approx(expected, rel=0.05)
    replay(binary.trace, 3)
