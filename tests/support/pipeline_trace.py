"""A captured pipeline with more threads than its thread count, made by hand.

    9 threads ─► 9 threads ─► 9 threads ─► one writer, in order

Each item goes through all stages; a thread of a stage takes every ninth. The writer is the
bottleneck: it takes a quarter of a stage's time for an item, so that about 13 of the 27 threads,
and the writer, can run at a time.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from sim_programs import region

from autofinity._core.trace import TraceBuilder
from autofinity.trace.meta import StreamMeta, TraceMeta, write_meta

STAGES, WIDTH = 3, 9
COMPUTING = STAGES * WIDTH + 1
TOLD = 8
AT_A_TIME = 14
_QUEUE = 2 * WIDTH  # items that a stage may be ahead of the writer, for each stage between
_PASSES = 8  # over two pages of its own that a stage makes for an item


def pipeline(folder: Path, items: int = 1500) -> Path:
    """Its trace; threads: main, 27 of the stages, the writer."""
    folder.mkdir(parents=True)
    builder = TraceBuilder()
    main = builder.stream()
    stage = [[builder.stream() for _ in range(WIDTH)] for _ in range(STAGES)]
    writer = builder.stream()
    begun = 1 << 40
    builder.roi_begin(main)
    for number, thread in enumerate([*chain(*stage), writer]):
        builder.post(main, begun + number)
        builder.wait(thread, begun + number)
    for level, threads in enumerate(stage):
        for place, thread in enumerate(threads):
            for item in range(place, items, WIDTH):
                _wait_for_the_item(builder, thread, level, item, items)
                _work(builder, thread, _PASSES)
                builder.post(thread, 1 + level * items + item)
    for item in range(items):
        builder.wait(writer, 1 + (STAGES - 1) * items + item)
        _work(builder, writer, _PASSES // 4)
        builder.post(writer, 1 + STAGES * items + item)
    builder.post(writer, begun + COMPUTING)
    builder.wait(main, begun + COMPUTING)
    builder.roi_end(main)
    builder.write(str(folder))
    write_meta(_meta(folder), folder)
    return folder


def _meta(folder: Path) -> TraceMeta:
    return TraceMeta(
        path=folder,
        program="pipeline",
        suite="by hand",
        input="tiny",
        arguments=(),
        threads=TOLD,
        roi="marks",
        key="",
        digest="",
        wall_s=0.0,
        cpu_s=0.0,
        spins=0,
        instructions="counted",
        host="",
        streams=(StreamMeta(0, 0, 0, 0, 0, 0, 0),) * (1 + COMPUTING),
    )


def _wait_for_the_item(
    builder: TraceBuilder, thread: int, level: int, item: int, items: int
) -> None:
    if level:
        builder.wait(thread, 1 + (level - 1) * items + item)
    else:
        written = item - STAGES * _QUEUE
        if written >= 0:
            builder.wait(thread, 1 + STAGES * items + written)


def _work(builder: TraceBuilder, thread: int, passes: int) -> None:
    for _ in range(passes):
        for line in region(2, 100 * thread):
            builder.access(thread, line, 2, 1, gap=64, span=8)
