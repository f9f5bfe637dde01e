"""Halves that a cut through all threads leaves are made whole, or plain code."""

from __future__ import annotations

from collections.abc import Sequence

from thread_texts import written

from autofinity._core.trace import Trace, TraceBuilder, whole_window

KINDS = [
    *("access", "lock", "unlock", "barrier", "post", "await", "begin", "end"),
    *("enter", "leave", "thread_begin", "thread_end", "compute", "heartbeat"),
]


def told(trace: Trace, stream: int) -> list[str]:
    """A stream's events: kind and, but for those that compute, value."""
    return [
        "compute"
        if KINDS[event["kind"]] == "compute"
        else f"{KINDS[event['kind']]} {event['value'] if event['value'] < 1 << 62 else '*'}"
        for event in trace.events(stream)
    ]


def whole(*texts: str) -> list[list[str]]:
    mended = whole_window(written(*texts).build())
    return [told(mended, stream) for stream in range(len(texts))]


def participants(trace: Trace, stream: int) -> list[int]:
    events = trace.events(stream)
    return [int(each) for each in events["aux"][events["kind"] == KINDS.index("barrier")]]


def instructions(trace: Trace) -> list[int]:
    return [int(trace.events(stream)["gap"].sum()) for stream in range(trace.streams)]


def test_nobody_waits_for_a_token_that_was_posted_before() -> None:
    assert whole("wait 3, post 4", "wait 4") == [["compute", "post 4"], ["await 4"]]


def test_no_instruction_is_lost() -> None:
    texts = ("wait 3, compute 50, enter, end 1 7, unlock 5", "barrier 9 3", "lock 2")
    before = written(*texts).build()
    assert instructions(whole_window(before)) == instructions(before)


def test_a_lock_that_was_held_is_taken_first_and_one_that_is_held_released_last() -> None:
    assert whole("compute 5, unlock 1, lock 2") == [
        ["lock 1", "compute", "unlock 1", "lock 2", "unlock 2"]
    ]


def test_several_threads_that_held_a_lock_were_its_readers() -> None:
    mended = whole_window(written("unlock 1", "compute 9, unlock 1", "unlock 2").build())
    assert [mended.events(stream)[0]["aux"] for stream in range(3)] == [1, 1, 0]


def test_work_units_without_their_beginning_are_plain_code() -> None:
    unit = 1 << 20 | 7
    assert whole("compute 5, end 1 7, begin 1 7, compute 5, end 1 7") == [
        ["compute", "compute", f"begin {unit}", "compute", f"end {unit}"]
    ]


def test_work_units_without_their_end_get_one() -> None:
    unit = 1 << 20 | 7
    assert whole("begin 1 7, lock 3") == [[f"begin {unit}", "lock 3", "unlock 3", f"end {unit}"]]


def task_of(builder: TraceBuilder, stream: int, created: int) -> None:
    builder.event(stream, KINDS.index("begin"), value=1 << 20 | created, aux=1)
    builder.wait(stream, created)
    builder.unit_end(stream, 1, created)


def test_tasks_that_were_created_before_are_plain_code_where_they_ran() -> None:
    builder = TraceBuilder()
    builder.post(builder.stream(), 8)
    worker = builder.stream()
    task_of(builder, worker, created=7)
    task_of(builder, worker, created=8)
    assert told(whole_window(builder.build()), worker) == [
        "compute",
        "compute",
        "compute",
        f"begin {1 << 20 | 8}",
        "await 8",
        f"end {1 << 20 | 8}",
    ]


def at_barrier(*arrivals: Sequence[int], style: str, participants: int) -> Trace:
    """Threads that come to barrier 9 after so many instructions each; 0: at once."""
    builder = TraceBuilder()
    for gaps in arrivals:
        stream = builder.stream()
        for gap in gaps:
            if gap:
                builder.compute(stream, gap=gap)
            if style == "before":
                builder.access(stream, 1 << 20, flags=1)
            builder.barrier(stream, 9, participants)
        builder.compute(stream, gap=100)
    return builder.build()


def test_who_had_arrived_arrives_first() -> None:
    mended = whole_window(at_barrier((10, 10), (10,), style="before", participants=2))
    assert told(mended, 1)[0] == "barrier 9"
    assert participants(mended, 0) == participants(mended, 1) == [2, 2]


def test_who_had_left_waits_for_those_that_were_leaving() -> None:
    mended = whole_window(at_barrier((0, 10), (10,), style="after", participants=2))
    assert told(mended, 1)[0] == "barrier 9"
    assert participants(mended, 0) == participants(mended, 1) == [2, 2]


def test_who_has_not_left_the_last_barrier_yet_is_not_waited_for() -> None:
    mended = whole_window(at_barrier((10, 10), (10,), style="after", participants=2))
    assert participants(mended, 0) == [2, 1]
    assert participants(mended, 1) == [2]


def test_who_never_comes_is_not_waited_for() -> None:
    mended = whole_window(at_barrier((10,), (20,), (), style="after", participants=3))
    assert [participants(mended, stream) for stream in range(3)] == [[2], [2], []]


def test_a_barrier_that_nobody_passes_is_where_streams_end() -> None:
    assert whole("compute 5, barrier 9 3", "barrier 9 3", "compute 7") == [
        ["compute", "compute"],
        ["compute"],
        ["compute"],
    ]


def test_teams_of_several_sizes_have_barriers_of_their_own() -> None:
    mended = whole_window(
        written(
            "barrier 9 2, barrier 9 3, compute 5",
            "barrier 9 2, barrier 9 3, compute 5",
            "barrier 9 3, compute 5",
        ).build()
    )
    names = [
        {int(event["value"]) for event in mended.events(s) if event["kind"] == 3} for s in range(3)
    ]
    assert len(names[0]) == 2
    assert names[0] == names[1] > names[2]


def test_the_marks_of_the_region_are_taken_away() -> None:
    assert whole("enter, compute 5, leave") == [["compute"] * 3]


def test_streams_may_be_empty() -> None:
    assert whole("", "compute 5") == [[], ["compute"]]
